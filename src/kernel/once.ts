interface Once<A extends readonly unknown[], T> {
  (...given: A): Promise<T>;
  /** The value, even while it opens; null before, and after a failure. */
  opened(): Promise<T> | null;
}

/** Opens a value on first use and keeps it. A failure is not kept: the next call tries again. */
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
