"""Documents of an office by their pages, and conversations about them."""

from dataclasses import dataclass

DOCUMENTS = {
    "lease.pdf": (
        "Lease of the flat at Lindenweg 12. The landlord lets three rooms, a kitchen and a cellar "
        "to the tenant. The tenancy begins on 1 March 2024. The monthly rent is 950 euros, payable "
        "in advance on the third working day. Heating is charged with 140 euros a month.",
        "Deposit. The tenant pays a deposit of 2,850 euros in three instalments. The landlord "
        "keeps it in an account apart, number 77214090. It is paid back within six months after "
        "the end of the tenancy.",
        "Notice. The tenant may give notice of three months to the end of a month. The landlord "
        "has to give nine months once the tenancy has lasted eight years. Notice is given in "
        "writing.",
    ),
    "staff-handbook.pdf": (
        "Working hours. Employees work 38 hours a week, workers in the hall 40 hours. The core "
        "time is from ten to three. Overtime is ordered by the head of the department.",
        "Leave. Employees have 28 days of paid leave a year. Workers in the hall have 30 days, "
        "because of the shifts. Leave that is not taken lapses on 31 March of the year after.",
        "Sickness. Illness is reported before nine in the morning on the first day. A doctor's "
        "certificate is due from the fourth day. Pay goes on for six weeks.",
        "Notice period. For employees the notice period is three months to the end of a quarter. "
        "For workers in the hall it is four weeks to the 15th or the end of a month. During "
        "probation, two weeks are enough for both.",
    ),
    "coffee-machine.pdf": (
        "The Aroma 300 makes eight cups at once. Fill the tank with at most 1.2 litres of cold "
        "water. The hopper holds 250 grams of beans.",
        "Error codes. E-1041 means that the tank is empty: fill it and press start. E-1042 means "
        "that the brewing unit is not locked. E-2077 means that the pump is too hot: let it cool "
        "for twenty minutes.",
        "Descaling. Descale the machine every 60 days with one tablet. The programme takes 25 "
        "minutes. Never open the lid while it runs.",
    ),
    "insurance.pdf": (
        "Household policy HP-558231. The sum insured is 65,000 euros. Damage by fire, burst pipes "
        "and burglary is covered. Bicycles are covered up to 1,500 euros.",
        "Excess. The policyholder bears the first 250 euros of each claim. Damage by flood is not "
        "covered without the supplement, which costs 48 euros a year.",
        "Claims. A claim is reported within seven days by telephone or letter. Burglary is "
        "reported to the police at once. Photographs of the damage are sent along.",
    ),
    "project-minutes.pdf": (
        "Minutes of 14 May. Present were Ms Okafor, Mr Lindqvist and Ms Baranova. Ms Okafor leads "
        "the project Heron. The budget of Heron is 420,000 euros until the end of the year.",
        "Mr Lindqvist reports that the supplier Nordkabel delivers the cables on 3 June. The "
        "contract number is NK-90417. A delay costs the supplier 800 euros a day.",
        "Ms Baranova presents the project Egret. Its budget is 185,000 euros. It begins in "
        "September and has four members. The next meeting is on 28 May in room 214.",
    ),
    "bicycle.pdf": (
        "The frame is of steel and weighs 2.1 kilograms. The tyres take between 3.5 and 5 bar. The "
        "largest permitted load is 130 kilograms with luggage.",
        "Service. Oil the chain every 300 kilometres. The brake pads are changed when they are "
        "thinner than one millimetre. The first inspection is free after 200 kilometres.",
    ),
}


@dataclass(frozen=True)
class Turn:
    """A question, and its answer with the page it stands on; None where no document has one.

    `query` is what one would search for who knows the conversation.
    """

    question: str
    query: str
    answer: str = ""
    document: str | None = None
    page: int = 0
    """From 1."""


def _turns(*turns: tuple[str, str, str, str, int] | tuple[str, str]) -> tuple[Turn, ...]:
    return tuple(Turn(*turn) for turn in turns)


LEASE, STAFF, COFFEE = "lease.pdf", "staff-handbook.pdf", "coffee-machine.pdf"
POLICY, MINUTES, BICYCLE = "insurance.pdf", "project-minutes.pdf", "bicycle.pdf"

CONVERSATIONS = (
    _turns(
        ("How long is the notice period for employees?", "notice period employees",
         "three months to the end of a quarter", STAFF, 4),
        ("And for workers?", "notice period workers hall", "four weeks to the 15th", STAFF, 4),
        ("What about probation?", "notice during probation", "two weeks are enough", STAFF, 4),
    ),
    _turns(
        ("How many days of leave do employees have?", "leave employees", "28 days", STAFF, 2),
        ("And workers in the hall?", "leave workers in the hall", "30 days", STAFF, 2),
        ("When does it lapse?", "when leave lapses", "31 March", STAFF, 2),
    ),
    _turns(
        ("How high is the monthly rent?", "monthly rent", "950 euros", LEASE, 1),
        ("And the heating?", "heating costs a month", "140 euros", LEASE, 1),
        ("Is there a deposit?", "deposit of the tenant", "2,850 euros", LEASE, 2),
    ),
    _turns(
        ("Which account has the deposit?", "account of the deposit", "77214090", LEASE, 2),
        ("When is it paid back?", "deposit paid back", "within six months", LEASE, 2),
        ("Does it earn interest at the stock exchange?", "interest stock exchange"),
    ),
    _turns(
        ("What does error E-1042 mean?", "E-1042", "brewing unit is not locked", COFFEE, 2),
        ("And E-2077?", "E-2077", "pump is too hot", COFFEE, 2),
        ("And E-9999?", "E-9999"),
    ),
    _turns(
        ("How often is the machine descaled?", "descale the machine", "every 60 days", COFFEE, 3),
        ("How long does that take?", "descaling programme minutes", "25 minutes", COFFEE, 3),
        ("How much water does the tank hold?", "tank litres of water", "1.2 litres", COFFEE, 1),
    ),
    _turns(
        ("What is the sum insured of HP-558231?", "HP-558231", "65,000 euros", POLICY, 1),
        ("Are bicycles covered by it?", "bicycles covered", "up to 1,500 euros", POLICY, 1),
        ("And floods?", "flood covered", "not covered without the supplement", POLICY, 2),
    ),
    _turns(
        ("How soon must a claim be reported?", "claim reported", "within seven days", POLICY, 3),
        ("What excess applies to it?", "excess of a claim", "first 250 euros", POLICY, 2),
        ("Which astronaut signed the policy?", "astronaut"),
    ),
    _turns(
        ("Who leads the project Heron?", "leads project Heron", "Ms Okafor leads", MINUTES, 1),
        ("What is its budget?", "budget of Heron", "420,000 euros", MINUTES, 1),
        ("And that of Egret?", "budget of Egret", "185,000 euros", MINUTES, 3),
    ),
    _turns(
        ("When does Nordkabel deliver the cables?", "Nordkabel cables", "3 June", MINUTES, 2),
        ("What does a delay cost them?", "delay supplier cost", "800 euros a day", MINUTES, 2),
        ("What is the contract number?", "contract number Nordkabel", "NK-90417", MINUTES, 2),
    ),
    _turns(
        ("What pressure do the tyres take?", "tyres bar", "between 3.5 and 5 bar", BICYCLE, 1),
        ("How often is the chain oiled?", "oil the chain", "every 300 kilometres", BICYCLE, 2),
        ("And the brake pads?", "brake pads changed", "one millimetre", BICYCLE, 2),
    ),
    _turns(
        ("When is illness reported?", "illness reported", "before nine", STAFF, 3),
        ("From which day is a certificate due?", "doctor's certificate", "fourth day", STAFF, 3),
        ("Which penguins live in the zoo?", "penguins zoo"),
    ),
    _turns(
        ("How long is the notice of the tenant?", "notice tenant", "three months to", LEASE, 3),
        ("And of the landlord?", "notice landlord", "nine months", LEASE, 3),
        ("What is the password of the wireless network?", "wireless password"),
    ),
    _turns(("Where is the next meeting?", "next meeting room", "room 214", MINUTES, 3)),
)  # fmt: skip
"""Fourteen conversations with forty questions, five of which no document answers."""
