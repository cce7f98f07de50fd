// What every driver in JavaScript is made of: see operation.py.

export const url = process.env.CARREL_URL;
export const key = process.env.CARREL_API_KEY;
export const thinkingUrl = process.env.THINKING_URL ?? url;
export const thinkingKey = process.env.THINKING_API_KEY ?? key;

/**
 * Runs a function, if its operation was asked for, and prints one line of JSON about it.
 * @param {string} name
 * @param {() => Promise<void>} run
 */
export async function operation(name, run) {
  if (!process.argv.slice(2).includes(name)) return;
  let error = null;
  try {
    await run();
  } catch (problem) {
    error = `${problem.name}: ${problem.message} ${problem.cause ?? ""}`;
  }
  console.log(JSON.stringify({ operation: name, ok: error === null, error }));
}
