import type { ProgressToken, ServerNotification } from '@modelcontextprotocol/sdk/types.js';

/** The sign of life of a call: without one a client gives up on a booking that takes its time. */
interface Progress {
  /** Text that the command wrote beside its result; of it, the phase is passed on. */
  said(text: string): void;
  stop(): void;
}

const EVERY_MS = 1_000;

/** Reports the seconds that have passed and the phase, each second; nothing to a client that gave no token. */
export function openProgress(
  token: ProgressToken | undefined,
  send: (notification: ServerNotification) => Promise<void>,
): Progress {
  let phase = '';
  const startedMs = performance.now();
  const report = () => {
    const progress = Math.round(performance.now() - startedMs) / 1000;
    const params = { progressToken: token ?? '', progress, ...(phase && { message: phase }) };
    // A client that is gone is told nothing more; its call goes on to where the money is safe.
    send({ method: 'notifications/progress', params }).catch(() => clearInterval(ticking));
  };
  const ticking = token === undefined ? undefined : setInterval(report, EVERY_MS);
  return {
    said(text) {
      // A phase ends with an ellipsis (screen/progress.ts); remarks are for a person.
      phase =
        text
          .trim()
          .split('\n')
          .findLast((line) => line.endsWith('…')) ?? phase;
    },
    stop: () => clearInterval(ticking),
  };
}
