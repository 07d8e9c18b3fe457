/** Steps that write one after the other: at once, unless one that takes time (a pager) is still at it. */
export interface Turns {
  take(step: () => void | Promise<void>): void;
  /** Whether something takes time now. */
  readonly isBusy: boolean;
  /** Once everything is written. @throws what a step threw */
  settled(): Promise<void>;
}

export function createTurns(): Turns {
  let last: Promise<void> | null = null;
  const follow = (turn: Promise<void>) => {
    const ended = turn.finally(() => {
      if (last === ended) last = null;
    });
    // Whoever waits for the end hears of a failure; until then nobody does.
    ended.catch(() => undefined);
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
    },
  };
}
