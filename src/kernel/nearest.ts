/** Counts insertions, deletions, replacements and neighbour swaps up to `most` + 1. */
export function editDistance(from: string, to: string, most = 3): number {
  const a = [...from];
  const b = [...to];
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let beforeLast: number[] = [];
  let last = b.map((_, index) => index + 1);
  for (const [row, letter] of a.entries()) {
    const now: number[] = [];
    for (const [column, other] of b.entries()) {
      const left = now[column - 1] ?? row + 1;
      const above = last[column] ?? 0;
      const corner = column === 0 ? row : (last[column - 1] ?? 0);
      let least = Math.min(left + 1, above + 1, corner + (letter === other ? 0 : 1));
      if (row > 0 && column > 0 && letter === b[column - 1] && a[row - 1] === other) {
        const swapped = column === 1 ? row - 1 : (beforeLast[column - 2] ?? 0);
        least = Math.min(least, swapped + 1);
      }
      now.push(least);
    }
    beforeLast = last;
    last = now;
  }
  return Math.min(b.length === 0 ? a.length : (last[b.length - 1] ?? 0), most + 1);
}

export const mistakesIn = (word: string): number => (word.length <= 3 ? 1 : word.length <= 8 ? 2 : 3);

/** Suggests the names that need fewest changes, then names that begin with or contain the text. `-` equals `_`. */
export function nearest(given: string, names: readonly string[], limit = 3): string[] {
  const plain = (text: string) => text.toLowerCase().replaceAll('-', '_');
  const wanted = plain(given);
  if (wanted === '') return [];
  const most = Math.min(mistakesIn(wanted), Math.max(1, wanted.length - 1));
  const ranked = names.flatMap((name, index) => {
    const known = plain(name);
    const distance = editDistance(wanted, known, most);
    if (distance <= most) return [{ name, index, rank: distance }];
    if (wanted.length >= 3 && known.startsWith(wanted)) return [{ name, index, rank: most + 1 }];
    return wanted.length >= 4 && known.includes(wanted) ? [{ name, index, rank: most + 2 }] : [];
  });
  ranked.sort((a, b) => a.rank - b.rank || a.index - b.index);
  return ranked.slice(0, limit).map(({ name }) => name);
}

export const didYouMean = (given: string, names: readonly string[], limit = 3): string =>
  didYouMeanOneOf(nearest(given, names, limit));

export const didYouMeanOneOf = (names: readonly string[]): string => {
  const near = [...names];
  const last = near.pop();
  if (last === undefined) return '';
  return `Did you mean ${near.length === 0 ? last : `${near.join(', ')} or ${last}`}?`;
};
