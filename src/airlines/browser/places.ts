/** How many browsers there are at once: whoever comes next waits, and who buys waits before who looks. */
export function createPlaces(most: number) {
  let taken = 0;
  const buyers: (() => void)[] = [];
  const lookers: (() => void)[] = [];
  const next = () => {
    const one = buyers.shift() ?? lookers.shift();
    if (one) one();
    else taken -= 1;
  };
  return async function inPlace<T>(who: 'buyer' | 'looker', work: () => Promise<T>): Promise<T> {
    if (taken < most) taken += 1;
    else await new Promise<void>((resolve) => (who === 'buyer' ? buyers : lookers).push(resolve));
    try {
      return await work();
    } finally {
      next();
    }
  };
}
