import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { Look, Watch, Watches } from '../../../client/journal/index.ts';
import { instant } from '../../../kernel/clock.ts';
import { formatUsdc } from '../../../kernel/money.ts';
import { problem } from '../../../kernel/problems.ts';
import type { CommandContext } from '../../spec/index.ts';

const MOST_TRIES = 5;
const PAUSE_MS = 2_000;
const PROGRAM_MS = 60_000;

/**
 * Reads the ways of --notify. Makes the path of a program absolute: a watch may go on from another folder.
 * @throws Problem `usage`
 */
export function waysOf(given: readonly string[] = [], folder = process.cwd()): string[] {
  return given.map((way) => {
    const wrong = (fix: string) => problem('usage', { message: `--notify cannot be ${way}.`, fix });
    const [, kind, value = ''] = /^(\w+)(?::(.*))?$/s.exec(way) ?? [];
    if (kind === 'page' && value === '') return way;
    if (kind === 'mail') {
      if (/^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(value)) return way;
      throw wrong('Write it as mail:ana@example.com.');
    }
    if (kind !== 'command' || value === '') throw wrong('Give page, mail:<address> or command:<program>.');
    const path = isAbsolute(value) || !value.includes('/') ? value : resolve(folder, value);
    if (!path.includes('/')) return way;
    try {
      accessSync(path, constants.X_OK);
    } catch {
      throw wrong(`${path} is not a program that you may run.`);
    }
    return `command:${path}`;
  });
}

/**
 * Sends the due notices of falls, one by each way. Page and mail are sent as the service sends its own: again, under
 * the same id, if it is uncertain whether they went out. A program is started once, without a shell, its data in
 * variables.
 */
export async function sendNotices(context: CommandContext, watches: Watches, watch: Watch): Promise<void> {
  const { terminal, clock, signal } = context;
  const looks = await watches.looks(watch.watchId);
  for (const notice of await watches.notices(watch.watchId)) {
    const look = looks.find(({ number }) => number === notice.number);
    for (let pauseMs = PAUSE_MS; look; pauseMs *= 2) {
      const tries = await watches.takeNotice(notice);
      if (tries === null) break;
      try {
        await send(context, notice.way, watch, look, tries);
        await watches.noticed(notice, 'sent');
        break;
      } catch (error) {
        const mayPass = !notice.way.startsWith('command:') && tries < MOST_TRIES;
        await watches.noticed(notice, mayPass ? 'due' : 'failed');
        terminal.note(
          `${notice.way}: the notice did not go out (${error instanceof Error ? error.message : String(error)}).`,
        );
        if (!mayPass) break;
        await clock.sleep(pauseMs, signal);
        signal.throwIfAborted();
      }
    }
  }
}

async function send(context: CommandContext, way: string, watch: Watch, look: Look, attempt: number): Promise<void> {
  const price = formatUsdc(BigInt(look.price ?? 0));
  const below = formatUsdc(BigInt(watch.below));
  const text = `${watch.title}: ${price} USD, below ${below}. ${look.says}`;
  if (way.startsWith('command:')) return runProgram(context, way.slice('command:'.length), watch, look);
  const transports = await context.session.openNotices();
  const id = `msg_${watch.watchId}_${look.number}`;
  const common = { dedupKey: `watch:${watch.watchId}:${look.number}`, intentId: null };
  const delivery = { id, createdAtMs: look.begun_at_ms, attempt };
  const ending = AbortSignal.any([context.signal, AbortSignal.timeout(20_000)]);
  if (way === 'page') {
    const fields = { watch_id: watch.watchId, price, below, offer_id: look.offer_id };
    await transports.page({ ...common, kind: 'page', event: 'fare_fell', text, fields }, delivery, ending);
    return;
  }
  const address = way.slice('mail:'.length);
  const lines = [text, '', `Seen ${instant(look.begun_at_ms)}. Lock it: farelock intent ${look.offer_id ?? ''}`, ''];
  await transports.mail(
    {
      ...common,
      kind: 'email',
      to: { name: '', address },
      subject: `${price} USD: ${watch.title}`,
      text: lines.join('\n'),
    },
    delivery,
    ending,
  );
}

/** The names do not begin with FARELOCK_: the program may be this tool, which refuses unknown settings. */
async function runProgram({ environment, signal }: CommandContext, program: string, watch: Watch, look: Look) {
  const env = {
    ...environment,
    WATCH_ID: watch.watchId,
    WATCH_TITLE: watch.title,
    WATCH_PRICE: formatUsdc(BigInt(look.price ?? 0)),
    WATCH_BELOW: formatUsdc(BigInt(watch.below)),
    WATCH_OFFER_ID: look.offer_id ?? '',
    WATCH_SAYS: look.says,
  };
  await new Promise<void>((done, failed) => {
    const options = { env, shell: false, timeout: PROGRAM_MS, signal, windowsHide: true };
    execFile(program, [], options, (error) => (error ? failed(error) : done()));
  });
}
