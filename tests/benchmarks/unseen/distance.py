"""How far texts and ordered trees are from each other."""

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass, field


def bare(text: str) -> str:
    """Return a text without blanks, in Unicode's compatible form."""
    return "".join(unicodedata.normalize("NFKC", text).split())


def likeness(one: str, other: str) -> float:
    """Return the normalised indel similarity: twice what both have in common, over their letters.

    The longest common subsequence is counted in the bits of one number (Hyyrö, 2004).
    """
    if not one and not other:
        return 1.0
    places: dict[str, int] = {}
    for index, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << index
    whole = (1 << len(one)) - 1
    row = whole
    for letter in other:
        matched = row & places.get(letter, 0)
        row = ((row + matched) | (row - matched)) & whole
    common = len(one) - row.bit_count()
    return 2 * common / (len(one) + len(other))


@dataclass
class Node:
    """A node of an ordered tree."""

    label: str
    text: str = ""
    children: list["Node"] = field(default_factory=list)

    def size(self) -> int:
        return 1 + sum(child.size() for child in self.children)


def tree_distance(one: Node, other: Node, rename: Callable[[Node, Node], float]) -> float:
    """Return the edit distance of two trees (Zhang and Shasha, 1989).

    A node more or less costs 1.
    """
    ours, our_leftmost, our_roots = _postorder(one)
    theirs, their_leftmost, their_roots = _postorder(other)
    distances = [[0.0] * len(theirs) for _ in ours]
    for i in our_roots:
        for j in their_roots:
            first, second = our_leftmost[i], their_leftmost[j]
            height, width = i - first + 2, j - second + 2
            forest = [[0.0] * width for _ in range(height)]
            for x in range(1, height):
                forest[x][0] = x
            forest[0] = [float(y) for y in range(width)]
            for x in range(1, height):
                a = first + x - 1
                row, above = forest[x], forest[x - 1]
                for y in range(1, width):
                    b = second + y - 1
                    least = min(above[y], row[y - 1]) + 1
                    if our_leftmost[a] == first and their_leftmost[b] == second:
                        changed = above[y - 1] + rename(ours[a], theirs[b])
                        row[y] = distances[a][b] = min(least, changed)
                    else:
                        before = forest[our_leftmost[a] - first][their_leftmost[b] - second]
                        row[y] = min(least, before + distances[a][b])
    return distances[-1][-1]


def _postorder(root: Node) -> tuple[list[Node], list[int], list[int]]:
    """Return the nodes, the leftmost leaf below each, and the roots to be compared."""
    nodes: list[Node] = []
    leftmost: list[int] = []

    def visit(node: Node) -> int:
        firsts = [visit(child) for child in node.children]
        nodes.append(node)
        leftmost.append(firsts[0] if firsts else len(nodes) - 1)
        return leftmost[-1]

    visit(root)
    last = {first: index for index, first in enumerate(leftmost)}
    return nodes, leftmost, sorted(last.values())
