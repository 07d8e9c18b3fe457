import { existsSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { KnownOrder } from '../../../client/base/index.ts';
import { journeyIcs } from '../../../kernel/domain/ics.ts';
import { problem } from '../../../kernel/problems.ts';
import type { CommandContext } from '../../spec/index.ts';

/**
 * Says before anything is paid that a file would be written over.
 * @throws Problem `usage`
 */
export function checkCalendarFile({ globals, terminal }: CommandContext, path: string): void {
  if (path === '-') {
    if (!terminal.settings.json) return;
    throw problem('usage', {
      message: '--json and --ics - both write to standard output.',
      fix: 'Give --ics a file, or leave out --json.',
    });
  }
  if (existsSync(resolve(path)) && !globals.yes) throw exists(path);
}

const exists = (path: string, cause?: unknown) =>
  problem('usage', { message: `${path} exists.`, fix: 'Give --ics another file, or overwrite it with --yes.', cause });

/** Writes the journey of an order as a calendar: one event a flight. An existing file only under --yes. */
export function writeCalendar(context: CommandContext, path: string, order: KnownOrder): void {
  const { terminal, streams, clock, globals } = context;
  if (order.slices.length === 0) {
    terminal.note('The order has no flights to put in a calendar.');
    return;
  }
  const text = journeyIcs({
    reference: order.order_id,
    bookingReference: order.booking_reference,
    stampMs: clock.now(),
    slices: order.slices,
  });
  if (path === '-') {
    terminal.settle();
    streams.stdout.write(text);
    return;
  }
  try {
    // A file that appeared meanwhile is not written over either; where a traveller goes is nobody else's business.
    writeFileSync(resolve(path), text, { flag: globals.yes ? 'w' : 'wx', mode: 0o600 });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'EEXIST') throw exists(path, error);
    throw problem('file_unreadable', {
      message: `${path} could not be written.`,
      fix: 'Check its folder and permissions, then run the same command again: the order is not paid for twice.',
      cause: error,
    });
  }
  terminal.done(`Wrote ${path}`);
}
