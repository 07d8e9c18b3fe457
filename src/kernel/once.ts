interface Once<A extends readonly unknown[], T> {
  (...given: A): Promise<T>;
  /** The opened or opening value; null before, and after a failure. */
  opened(): Promise<T> | null;
}

/** Opens on first use and keeps successes; only concurrent callers share a failure. */
export function once<A extends readonly unknown[], T>(open: (...given: A) => Promise<T>): Once<A, T> {
  let opening: Promise<T> | null = null;
  const ask = (...given: A): Promise<T> => {
    opening ??= open(...given).catch((error: unknown) => {
      opening = null;
      throw error;
    });
    return opening;
  };
  return Object.assign(ask, { opened: () => opening });
}
