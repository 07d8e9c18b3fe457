import { counted } from '../../terminal/text.ts';

/** The calls that are under way. */
interface Running {
  add<T>(call: Promise<T>): Promise<T>;
  /** Once all of them are answered and the answers are on their way; how many there were. */
  answered(): Promise<number>;
}

export function openRunning(): Running {
  const calls = new Set<Promise<unknown>>();
  return {
    add(call) {
      calls.add(call);
      return call.finally(() => calls.delete(call));
    },
    async answered() {
      const { size } = calls;
      await Promise.allSettled(calls);
      await new Promise<void>((resolve) => setImmediate(resolve));
      return size;
    },
  };
}

/** Told at the end of a server that was stopped: whether a call was cut off, and how to go on. */
export const stoppedText = (cutOff: number): string =>
  cutOff === 0
    ? 'Stopped between two calls; nothing is half done. To start again: farelock mcp'
    : `Stopped in the middle of ${counted(cutOff, 'call')}, answered with where the money is: farelock payments list`;
