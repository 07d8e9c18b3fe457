interface Rules {
  /** One that takes longer is asked further, and the next one beside it. */
  readonly patienceMs: number;
  /** Errors that the others would give as well. */
  readonly isFinal: (error: unknown) => boolean;
  /** Called with the place of each that was asked before the one that answered, and had not answered yet. */
  readonly overtaken?: (place: number) => void;
}

/**
 * Asks several that know the same, in their order, and gives the first answer: the next one is asked as soon as one
 * fails or takes too long. Whoever is still being asked then is told by the signal to stop.
 * @throws the last error, or the first final one
 */
export function firstAnswer<T>(
  asks: readonly ((signal: AbortSignal) => Promise<T>)[],
  { patienceMs, isFinal, overtaken }: Rules,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const open = new Map<number, AbortController>();
    let next = 0;
    let timer: NodeJS.Timeout | undefined;
    const end = (place: number, settle: () => void) => {
      clearTimeout(timer);
      next = asks.length;
      for (const [other, controller] of open) {
        controller.abort();
        if (other < place) overtaken?.(other);
      }
      open.clear();
      settle();
    };
    const askNext = () => {
      clearTimeout(timer);
      const place = next++;
      const ask = asks[place];
      if (!ask) return;
      const controller = new AbortController();
      open.set(place, controller);
      if (next < asks.length) timer = setTimeout(askNext, patienceMs);
      ask(controller.signal).then(
        (answer) => {
          if (open.delete(place)) end(place, () => resolve(answer));
        },
        (error: unknown) => {
          if (!open.delete(place)) return;
          if (isFinal(error) || (next >= asks.length && open.size === 0)) end(0, () => reject(error));
          else if (next < asks.length) askNext();
        },
      );
    };
    askNext();
  });
}
