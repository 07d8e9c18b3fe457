import { createLive } from '../../terminal/live.ts';
import { isSpoken, type Paint } from '../../terminal/paint.ts';
import type { Output } from '../../terminal/streams.ts';
import { counted } from '../../terminal/text.ts';

/** How far a run is, on one line that changes in place; nothing off a terminal. */
interface ProgressBar {
  row(outcome: 'applied' | 'refused' | 'held'): void;
  /** Removes it. */
  end(): void;
}

const CELLS = 24;
const FRAME_MS = 80;

export function createProgressBar(given: {
  readonly stderr: Output;
  readonly paint: Paint;
  readonly quiet: boolean;
  readonly total: number;
  readonly done: number;
  readonly now: () => number;
}): ProgressBar {
  const { stderr, paint, total, now } = given;
  if (!stderr.isTTY || given.quiet || total === 0 || isSpoken(paint)) {
    return { row: () => undefined, end: () => undefined };
  }
  const live = createLive(stderr);
  let done = given.done;
  let failed = 0;
  let drawnAtMs = Number.NEGATIVE_INFINITY;
  const draw = () => {
    drawnAtMs = now();
    live.draw([barLine({ done, failed, total }, paint)]);
  };
  draw();
  return {
    row(outcome) {
      done++;
      if (outcome !== 'applied') failed++;
      if (done === total || now() - drawnAtMs >= FRAME_MS) draw();
    },
    end: () => live.clear(),
  };
}

/** `━━━━━━━━╌╌╌╌  213 of 500 rows  2 failed` */
function barLine(
  { done, failed, total }: { done: number; failed: number; total: number },
  paint: Paint,
): string {
  const full = total === 0 ? CELLS : Math.floor((done / total) * CELLS);
  const bar = `${paint.accent('━'.repeat(full))}${paint.dim('╌'.repeat(CELLS - full))}`;
  const said = `${bar}  ${done} of ${counted(total, 'row')}`;
  return failed === 0 ? said : `${said}  ${paint.bad(`${failed} failed`)}`;
}
