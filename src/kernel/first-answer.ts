interface Rules {
  /** Without an answer for this long, the next call starts too. */
  readonly patienceMs: number;
  /** True for an error that every other call would repeat. */
  readonly isFinal: (error: unknown) => boolean;
  /** Called with the index of each earlier call that the winner overtook. */
  readonly overtaken?: (place: number) => void;
}

/** Makes calls in order until one answers, which aborts the rest. @throws the last error, or the first final one */
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
