import { counted, createLive, grouped, isSpoken, spanText } from '../../../terminal/index.ts';
import type { CommandContext } from '../../spec/index.ts';

const CELLS = 24;
const FRAME_MS = 80;
const TICK_MS = 1000;
const LINE_MS = 5000;

const RATED_AFTER_MS = 500;

/**
 * Shows how far a run is, its rate since the start, and the time left: on a terminal as one line that changes in place,
 * elsewhere as a line every five seconds.
 * @param before the part of `total` that earlier runs have done
 */
export function openProgress(
  { terminal, streams: { stderr }, clock, environment }: CommandContext,
  { total, before, unit }: { readonly total: number; readonly before: number; readonly unit: string },
) {
  if (terminal.settings.quiet || before >= total) return { step: () => undefined, end: () => undefined };
  const { paint } = terminal.asideScreen;
  const isDrawn = stderr.isTTY && !isSpoken(paint) && environment.TERM !== 'dumb' && !environment.CI;
  const live = isDrawn ? createLive(stderr) : null;
  if (isDrawn) terminal.settle();
  const startedAtMs = clock.now();
  const stopping = new AbortController();
  let done = before;
  let failed = 0;
  let drawnAtMs = Number.NEGATIVE_INFINITY;

  /** `1,240 of 5,000 rows`, `2 failed`, `248 rows/s`, `16 s left` */
  function parts(): string[] {
    const ms = clock.now() - startedAtMs;
    const rate = (done - before) / (ms / 1000);
    const isRated = ms >= RATED_AFTER_MS && done > before && done < total;
    return [
      `${grouped(done)} of ${counted(total, unit)}`,
      ...(failed > 0 ? [paint.bad(`${grouped(failed)} failed`)] : []),
      ...(isRated ? [`${rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate))} ${unit}s/s`] : []),
      ...(isRated ? [`${spanText(Math.ceil((total - done) / rate))} left`] : []),
    ];
  }

  function draw(): void {
    if (live === null) {
      terminal.note(parts().join(', '));
      return;
    }
    drawnAtMs = clock.now();
    const full = Math.floor((done / total) * CELLS);
    const bar = `${paint.accent('━'.repeat(full))}${paint.dim('╌'.repeat(CELLS - full))}`;
    live.draw([[bar, ...parts()].join('  ')]);
  }

  async function tick(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(live ? TICK_MS : LINE_MS, stopping.signal);
      if (!stopping.signal.aborted) draw();
    }
  }

  if (live) draw();
  void tick();
  return {
    step(hasFailed = false): void {
      if (stopping.signal.aborted) return;
      done++;
      if (hasFailed) failed++;
      if (live && (done === total || clock.now() - drawnAtMs >= FRAME_MS)) draw();
    },
    end(): void {
      stopping.abort();
      live?.clear();
    },
  };
}
