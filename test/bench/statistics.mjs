/** Medians, and how far the middle half of the values lies apart. */

const at = (sorted, share) => {
  const place = (sorted.length - 1) * share;
  const [low, high] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
};

export function spread(values) {
  const sorted = values.filter((value) => Number.isFinite(value)).sort((a, b) => a - b);
  if (sorted.length === 0) return null;
  return { median: at(sorted, 0.5), q1: at(sorted, 0.25), q3: at(sorted, 0.75), rounds: sorted.length };
}

export const median = (values) => spread(values)?.median ?? Number.NaN;
export const percentile = (values, share) =>
  at(
    [...values].sort((a, b) => a - b),
    share,
  );

/** Ratios of values that were measured in the same round: what slows the machine slows both. */
export const ratios = (values, others) => spread(values.map((value, round) => value / others[round]));

/**
 * A line of the report.
 * @param given `values` of the rounds, and what they are held against, of the same rounds (`against`, named by `to`);
 *   `beside`: a second ratio, to the smallest size
 */
export const line = (name, unit, { values, against, to, beside, goal, store = null }) => ({
  name,
  store,
  unit,
  value: spread(values),
  ...(against ? { ratio: { to, ...ratios(values, against) } } : {}),
  ...(goal === undefined ? {} : { goal }),
  ...(beside ? { beside } : {}),
});
