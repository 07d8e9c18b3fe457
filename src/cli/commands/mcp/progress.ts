import type { ServerContext } from '@modelcontextprotocol/server';

const EVERY_MS = 1_000;

/**
 * Reports the seconds and the phase of a call each second, because a client gives up on a long booking without a sign
 * of life. Reports nothing to a client that sent no progress token.
 */
export function openProgress({ _meta, notify }: Pick<ServerContext['mcpReq'], '_meta' | 'notify'>) {
  const token = _meta?.progressToken;
  let phase = '';
  const startedMs = performance.now();
  const report = () => {
    const progress = Math.round(performance.now() - startedMs) / 1000;
    const params = { progressToken: token ?? '', progress, ...(phase && { message: phase }) };
    // The client is gone: its call continues until the money is safe.
    notify({ method: 'notifications/progress', params }).catch(() => clearInterval(ticking));
  };
  const ticking = token === undefined ? undefined : setInterval(report, EVERY_MS);
  return {
    phase(text: string) {
      phase = `${text}…`;
    },
    stop: () => clearInterval(ticking),
  };
}
