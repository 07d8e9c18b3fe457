interface Once<A extends readonly unknown[], T> {
  (...given: A): Promise<T>;
  /** The opened value, or the one being opened; null before, and after a failure. */
  opened(): Promise<T> | null;
}

/**
 * Opens something when it is first asked for, and keeps it. A failure is not kept: whoever asks next tries again, and
 * only callers of the same moment share it.
 */
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
