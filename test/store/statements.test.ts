import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { randomIds } from '../../src/kernel/ids.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { createOutbox } from '../../src/notify/outbox.ts';
import { openWorld, type World } from '../flights/world.ts';
import { worldDatabase } from '../flights/world-database.ts';
import { newDatabases, postgresIsInstalled } from './postgres.ts';

/**
 * What a journey asks of PostgreSQL, call by call: each line is one round trip. A bound alone would not see a statement
 * that is missing, so every one is listed. More of them is a cost; fewer of them may be a rule that nothing holds any more.
 */

const CHALLENGE = ['insert quotes'];
/** The challenge and whether its payment is known, then the claim. */
const PAYMENT = ['select quotes'];
const SIGNED = 'update settlements';
const LANDED = 'update settlements';
const ANSWERED = ['insert paid_answers', 'update settlements'];

const JOURNEY: Readonly<Record<string, readonly string[]>> = {
  search: [
    ...['select search_completions', ...CHALLENGE],
    ...[...PAYMENT, 'insert settlements', 'insert search_completions', ...ANSWERED, LANDED],
  ],
  intent: [
    ...['select meta', 'select intents', 'needs of open work', ...CHALLENGE],
    ...[...PAYMENT, 'select meta', 'select intents', 'needs of open work', 'insert settlements'],
    // The turn of creations: what is in the way is read again, alone.
    ...['select intents', 'begin', 'select intents', 'insert intents', 'commit'],
    ...['insert effects', 'update effects', SIGNED, LANDED, 'update intents', ...ANSWERED],
  ],
  book: [
    ...['select meta', 'select intents', 'needs of open work', ...CHALLENGE],
    ...[...PAYMENT, 'select meta', 'select intents', 'needs of open work', 'insert settlements'],
    ...['insert bookings', SIGNED, LANDED, 'update bookings, update intents, insert outbox', ...ANSWERED],
  ],
  work: [
    ...['work of all kinds', 'update bookings', 'select intents', 'update bookings'],
    // The order is on record under the fence before the airline is asked, and its answer after it.
    ...['select effects', 'insert effects', 'update effects', 'update bookings, update intents, insert orders'],
    ...['select effects', 'insert effects', 'update effects', 'select orders'],
    ...['update bookings, update intents, insert outbox, insert upkeep', 'update bookings', 'work of all kinds'],
  ],
  mails: ['update outbox', 'update outbox', 'update outbox', 'update outbox', 'update outbox'],
  idle: ['work of all kinds'],
};

/**
 * As often as time passes, whatever is done: renewals of leases, every 200 ms in a world whose clock is in a hurry, and
 * the mark of a database that was put back, at most once a second.
 */
const BY_TIME = /^update "\w+" set lease_until_ms = |^select value from meta where key/;

/** The half of what a journey took before: 9, 47, 31 and 57. */
const MOST = 72;

describe.skipIf(!postgresIsInstalled)('on PostgreSQL', () => {
  let databases: Awaited<ReturnType<typeof newDatabases>>;
  let world: World;
  let heard: string[] = [];
  const inAFile = worldDatabase.next;
  const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
  const spy = vi.spyOn(pg.Client.prototype, 'query').mockImplementation(function (
    this: pg.Client,
    ...given: unknown[]
  ) {
    const [first] = given;
    heard.push(typeof first === 'string' ? first : (first as { readonly text: string }).text);
    return query.apply(this, given);
  } as never);
  beforeAll(async () => {
    databases = await newDatabases();
    worldDatabase.next = databases.next;
    world = await openWorld({ airline: 'sandbox' });
    // What only a first search and a first sweep do is not counted.
    await world.search();
    await world.work();
  });
  afterAll(async () => {
    worldDatabase.next = inAFile;
    await world.close();
    spy.mockRestore();
  });

  test(`a journey takes at most ${MOST} statements, each a round trip, and each of these`, async () => {
    const seen: Record<string, string[]> = {};
    const during = async <T>(phase: string, work: () => Promise<T>): Promise<T> => {
      heard = [];
      const result = await work();
      seen[phase] = heard.filter((text) => !BY_TIME.test(text)).map(inShort);
      return result;
    };
    const { offers } = await during('search', () => world.search({ limit: 50 }));
    const affordable = offers.find((one) => Number(one.total_amount_decimal) < 400);
    const intent = await during('intent', () => world.intent(affordable?.offer_id ?? ''));
    await during('book', () => world.book(intent));
    await during('work', () => world.work());
    expect((await world.show(intent)).status).toBe('booked');
    const { store, secrets, clock } = world;
    const sent: string[] = [];
    const transports = async () => ({
      page: async () => undefined,
      mail: async ({ subject }: { readonly subject: string }) => void sent.push(subject),
      forget: async () => undefined,
    });
    const ids = randomIds(clock.now);
    const outbox = createOutbox({ ...{ store, secrets, clock, ids, log: silentLog }, transports } as never);
    await during('mails', async () => {
      outbox.start(new Set(['email'] as const));
      await outbox.drain();
    });
    expect(sent).toHaveLength(2);
    await during('idle', () => world.worker.runDue());
    expect(seen).toEqual(JOURNEY);
    const { idle: _, ...journey } = seen;
    expect(Object.values(journey).flat().length).toBeLessThanOrEqual(MOST);
  });
});

/** A statement by what it does to which tables. */
function inShort(text: string): string {
  if (/^(?:begin|commit|rollback)\b/.test(text)) return text.slice(0, text.search(/\W|$/));
  if (text.includes('as "open_bookings"')) return 'needs of open work';
  if (text.includes('as "payments"')) return 'work of all kinds';
  const writes = [...text.matchAll(/\b(insert into|update|delete from) "?(?!set\b)(\w+)/g)];
  if (writes.length > 0) return writes.map(([, verb, table]) => `${verb?.split(' ')[0]} ${table}`).join(', ');
  let outer = text;
  while (/\([^()]*\)/.test(outer)) outer = outer.replaceAll(/\([^()]*\)/g, '');
  return `select ${/\bfrom "?(\w+)/.exec(outer)?.[1]}`;
}
