/** Steps that write one after the other: at once, unless one that takes time (a pager) is still at it. */
interface Turns {
  take(step: () => void | Promise<void>): void;
  /** True when something takes time now. */
  readonly isBusy: boolean;
  /** Once everything is written. @throws what a step threw */
  settled(): Promise<void>;
}

export function createTurns(): Turns {
  let last: Promise<void> | null = null;
  let failure: { readonly error: unknown } | null = null;
  const follow = (turn: Promise<void>) => {
    const ended: Promise<void> = turn
      .catch((error: unknown) => {
        // Whoever waits for the end hears of it; what comes after is written all the same.
        failure ??= { error };
      })
      .finally(() => {
        if (last === ended) last = null;
      });
    last = ended;
  };
  return {
    take(step) {
      if (last !== null) return follow(last.then(step));
      const turn = step();
      if (turn) follow(turn);
    },
    get isBusy() {
      return last !== null;
    },
    async settled() {
      while (last !== null) await last;
      if (failure !== null) throw failure.error;
    },
  };
}
