import type { Clock } from '../kernel/clock.ts';
import { createLive } from './live.ts';
import type { Streams } from './streams.ts';
import type { Terminal } from './terminal.ts';

/** Where lines are redrawn: the part of a command's context that it takes. */
interface Drawn {
  readonly terminal: Terminal;
  readonly streams: Streams;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
}

/** Lines on stderr that are redrawn in place, with a moving sign of life under them. */
interface LiveSign {
  show(lines: readonly string[], said: string): void;
  /** Takes everything off the screen. */
  stop(): Promise<void>;
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 120;

/** True when a person watches who can be shown lines that change. */
export function canDrawLive({ terminal, streams, environment }: Omit<Drawn, 'clock'>): boolean {
  const { json, quiet, plain } = terminal.settings;
  if (plain) return false;
  return streams.stdout.isTTY && streams.stderr.isTTY && environment.TERM !== 'dumb' && !json && !quiet;
}

export function openLiveSign({ terminal, streams, clock }: Omit<Drawn, 'environment'>): LiveSign {
  const { paint } = terminal.asideScreen;
  const live = createLive(streams.stderr);
  const stopping = new AbortController();
  let above: readonly string[] = [];
  let text = '';
  let frame = 0;
  const draw = () => {
    const sign = `${paint.accent(FRAMES[frame % FRAMES.length] ?? '')} ${paint.dim(text)}`;
    live.draw(above.length > 0 ? [...above, '', sign] : [sign]);
  };
  const turn = async () => {
    while (!stopping.signal.aborted) {
      await clock.sleep(FRAME_MS, stopping.signal);
      frame++;
      if (!stopping.signal.aborted) draw();
    }
  };
  let turning: Promise<void> | null = null;
  return {
    show(lines, said) {
      terminal.settle();
      above = lines;
      text = said;
      draw();
      turning ??= turn();
    },
    async stop() {
      stopping.abort();
      await turning;
      live.clear();
    },
  };
}
