import { describe, expect, test } from 'vitest';
import { TOOL } from '../../src/cli/commands/index.ts';
import type { SearchOptions } from '../../src/cli/commands/search/index.ts';
import { search } from '../../src/cli/commands/search/run.ts';
import type { Session } from '../../src/cli/session/session.ts';
import { EMBEDDED } from '../../src/cli/settings/profile.ts';
import type { CommandContext } from '../../src/cli/spec/command.ts';
import type { FlightsClient } from '../../src/client/flights.ts';
import { type Problem, problem } from '../../src/kernel/problems.ts';
import { openTerminal } from '../../src/terminal/terminal.ts';
import { unpainted } from '../../src/terminal/text.ts';
import type { Offer, SearchRequestInput, SearchUpdatesResponse } from '../../src/wire/flights/index.ts';
import { manualClock } from '../clock.ts';
import { offerWith, option, response, segment, slice } from './offers.ts';

// Commands load these when an answer is not complete; time stands still in these tests meanwhile.
await Promise.all([import('../../src/cli/searching/arrivals.ts'), import('../../src/cli/commands/search/updates.ts')]);

/** `search` while slower offers land, on a clock that is moved by hand. */

const at = (hour: string) =>
  slice([segment({ departing_at: `2026-12-20T${hour}:00:00`, arriving_at: `2026-12-20T23:05:00` })]);
const grouped = (id: string, hour: string, price: string): Offer => ({
  ...offerWith([at(hour)], [option({ offer_id: id, total_amount_decimal: price })]),
  comparison_key: hour,
});
/** As it lands: not grouped. */
const late = (id: string, hour: string, price: string): Offer => {
  const { fare_options: _options, fare_options_count: _count, ...offer } = grouped(id, hour, price);
  return { ...offer, owner_name: 'Pelican', expires_at: '2026-12-01T00:00:00.000Z' };
};
const FAST = [grouped('off_1', '06', '100.00'), grouped('off_2', '07', '200.00')];

type Update = Partial<SearchUpdatesResponse> | Problem;

interface Given {
  readonly terminal?: boolean;
  readonly rows?: number;
  readonly options?: Partial<SearchOptions>;
  readonly globals?: Partial<CommandContext['globals']>;
  readonly updates?: readonly Update[];
  readonly complete?: boolean;
}

async function searching(given: Given = {}) {
  const clock = manualClock();
  const stop = new AbortController();
  const written = { stdout: '', stderr: '' };
  const isTTY = given.terminal === true;
  const output = (name: 'stdout' | 'stderr') => ({
    isTTY,
    columns: isTTY ? 80 : null,
    rows: isTTY ? (given.rows ?? 24) : null,
    write: (text: string) => {
      written[name] += text;
    },
  });
  const streams = { stdout: output('stdout'), stderr: output('stderr'), stdin: { isTTY, text: async () => '' } };
  const globals = { input: true, color: false, ...given.globals };
  const settings = {
    json: globals.json !== undefined || given.options?.ndjson === true,
    fields: null,
    quiet: globals.quiet === true,
    verbose: false,
    input: true,
    color: false,
  };
  const terminal = await openTerminal(streams, settings, {}, () => {
    throw new Error('nobody is asked');
  });
  const asked: unknown[] = [];
  let request: SearchRequestInput | null = null;
  const client: Partial<FlightsClient> = {
    search: async (given_) => {
      request = given_;
      const rest = given.complete ? {} : { status: 'enriching' as const, search_id: 'sea_1', poll_after_ms: 1_000 };
      return { value: { ...response(FAST), ...rest }, payment: null };
    },
    searchUpdates: async (body) => {
      asked.push(body);
      const next = given.updates?.[asked.length - 1];
      if (next instanceof Error) throw next;
      return {
        search_id: 'sea_1',
        status: 'enriching',
        offers: [],
        cursor: String(asked.length),
        poll_after_ms: 1_000,
        ...next,
      };
    },
  };
  let numbered: Readonly<Record<string, string>> = {};
  const session: Partial<Session> = {
    profile: EMBEDDED,
    flights: async () => client as FlightsClient,
    work: async () => null,
    recentOffers: {
      remember: async (_offers, numbers) => {
        numbered = numbers;
      },
      rememberOne: () => undefined,
      listed: () => [],
      rememberMenu: async () => ({}),
      resolve: (id) => id,
      bagsOf: () => undefined,
      fareFamily: () => [],
      journey: () => null,
      rememberIntents: () => undefined,
      rememberIntent: () => undefined,
      hasSeen: () => false,
      row: () => null,
      numberOf: () => null,
    },
  };
  const context: CommandContext = {
    tool: TOOL,
    terminal,
    session: session as Session,
    streams,
    clock,
    environment: {},
    globals,
    signal: stop.signal,
  };
  const options = { from: 'LIS', to: 'BER', depart: '2026-12-20', wait: true, basic: true, ...given.options };
  let exitCode: number | null = null;
  const running = search(context, options).then((code) => {
    exitCode = code;
  });
  running.catch(() => undefined);
  const settle = async () => {
    for (let i = 0; i < 20; i++) await new Promise((done) => setImmediate(done));
  };
  await settle();
  return {
    written,
    asked,
    stop,
    running,
    request: () => request,
    numbered: () => numbered,
    exitCode: () => exitCode,
    async advance(ms: number) {
      clock.advance(ms);
      await settle();
    },
  };
}

const ids = (json: string): string[] => (JSON.parse(json) as { offers: Offer[] }).offers.map((offer) => offer.offer_id);

describe('off a terminal', () => {
  test('it waits until the search is complete and prints one document, sorted with the rest', async () => {
    const run = await searching({
      globals: { json: true },
      updates: [{ offers: [late('lowcost:a', '08', '150.00')] }, { status: 'complete' }],
    });
    expect(run.written.stdout).toBe('');
    await run.advance(1_000);
    expect(run.written.stdout).toBe('');
    await run.advance(1_000);
    await run.running;
    expect(run.exitCode()).toBe(0);
    expect(ids(run.written.stdout)).toEqual(['off_1', 'lowcost:a', 'off_2']);
    const document = JSON.parse(run.written.stdout) as Record<string, unknown>;
    expect(document).toMatchObject({ status: 'complete', search_id: 'sea_1', total_offers: 3 });
    expect(document).not.toHaveProperty('poll_after_ms');
    expect(run.asked).toEqual([{ search_id: 'sea_1' }, { search_id: 'sea_1', cursor: '1' }]);
    expect(run.numbered()).toEqual({ '1': 'off_1', '2': 'lowcost:a', '3': 'off_2' });
  });

  test('an offer on an itinerary that is there already becomes one of its fares', async () => {
    const run = await searching({
      globals: { json: true },
      updates: [{ status: 'complete', offers: [late('lowcost:a', '06', '90.00')] }],
    });
    await run.advance(1_000);
    await run.running;
    const { offers } = JSON.parse(run.written.stdout) as { offers: Offer[] };
    expect(offers.map((offer) => offer.offer_id)).toEqual(['lowcost:a', 'off_2']);
    expect(offers[0]?.fare_options?.map((fare) => fare.offer_id)).toEqual(['lowcost:a', 'off_1']);
  });

  test('who waits asks for the whole answer, and limits it when it is complete', async () => {
    const run = await searching({
      globals: { json: true },
      options: { limit: 2 },
      updates: [{ status: 'complete', offers: [late('lowcost:a', '08', '50.00')] }],
    });
    expect(run.request()).not.toHaveProperty('limit');
    await run.advance(1_000);
    await run.running;
    expect(ids(run.written.stdout)).toEqual(['lowcost:a', 'off_1']);
    expect(run.written.stderr).toMatch(/1 more itinerary: --limit 3/);
  });

  test('--no-wait gives the first answer at once, and says what it does not prove', async () => {
    const run = await searching({ globals: { json: true }, options: { wait: false } });
    await run.running;
    expect(JSON.parse(run.written.stdout)).toMatchObject({ status: 'enriching', search_id: 'sea_1' });
    expect(run.request()).toMatchObject({ limit: 20 });
    expect(run.asked).toEqual([]);
    expect(run.written.stderr).toMatch(/Some sellers have not answered yet/);
  });

  test('an answer that is complete at once asks for nothing more', async () => {
    const run = await searching({ globals: { json: true }, complete: true });
    await run.running;
    expect(run.asked).toEqual([]);
    expect(run.exitCode()).toBe(0);
  });

  test('a service that is briefly away is asked again; a portion that comes twice is taken once', async () => {
    const portion = { offers: [late('lowcost:a', '08', '150.00')] };
    const run = await searching({
      globals: { json: true },
      updates: [portion, problem('network_unreachable'), { ...portion, status: 'complete' }],
    });
    for (const ms of [1_000, 1_000, 2_000]) await run.advance(ms);
    await run.running;
    expect(ids(run.written.stdout)).toEqual(['off_1', 'lowcost:a', 'off_2']);
    expect(JSON.parse(run.written.stdout)).toMatchObject({ status: 'complete', total_offers: 3 });
  });

  test('what was paid is shown when the updates fail for good', async () => {
    const run = await searching({ globals: { json: true }, updates: [problem('search_not_found')] });
    await run.advance(1_000);
    await run.running;
    expect(run.exitCode()).toBe(0);
    expect(JSON.parse(run.written.stdout)).toMatchObject({ status: 'enriching', total_offers: 2 });
    expect(run.written.stderr).toMatch(/search is unknown.*may be missing/);
  });

  test.each([
    ['timed_out', 0],
    ['interrupted', 130],
  ] as const)('cut off by %s it prints what has landed and ends with %i', async (code, exit) => {
    const run = await searching({
      globals: { json: true },
      updates: [{ offers: [late('lowcost:a', '08', '150.00')] }],
    });
    await run.advance(1_000);
    run.stop.abort(problem(code));
    await run.running;
    expect(run.exitCode()).toBe(exit);
    expect(ids(run.written.stdout)).toEqual(['off_1', 'lowcost:a', 'off_2']);
    expect(JSON.parse(run.written.stdout)).toMatchObject({ status: 'enriching' });
  });
});

describe('--ndjson', () => {
  test('is a line for each offer as it arrives, then one with the status', async () => {
    const run = await searching({
      options: { ndjson: true },
      updates: [{ offers: [late('lowcost:a', '08', '150.00')] }, { status: 'complete' }],
    });
    const lines = () =>
      run.written.stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines().map((line) => line.offer_id)).toEqual(['off_1', 'off_2']);
    await run.advance(1_000);
    expect(lines()).toHaveLength(3);
    expect(lines()[2]).toMatchObject({ offer_id: 'lowcost:a', fare_options_count: 1 });
    await run.advance(1_000);
    await run.running;
    expect(lines()[3]).toEqual({ status: 'complete', search_id: 'sea_1', total_offers: 3 });
  });

  test('excludes --json', async () => {
    const run = searching({ options: { ndjson: true }, globals: { json: true } });
    await expect(run.then((one) => one.running)).rejects.toMatchObject({ code: 'usage' });
  });
});

describe('on a terminal', () => {
  /** What a terminal shows after everything that was written to it. */
  function screenOf(text: string): string[] {
    const lines = [''];
    let row = 0;
    let column = 0;
    const put = (character: string) => {
      const line = (lines[row] ?? '').padEnd(column);
      lines[row] = line.slice(0, column) + character + line.slice(column + 1);
      column++;
    };
    const sequence = new RegExp(`${String.fromCharCode(27)}\\[(\\??\\d*)([A-Za-z])|[\\s\\S]`, 'gu');
    for (const [whole, count = '', kind] of text.matchAll(sequence)) {
      if (kind === 'A') row = Math.max(0, row - Number(count || 1));
      else if (kind === 'K') lines[row] = (lines[row] ?? '').slice(0, column);
      else if (kind === 'J') {
        lines[row] = (lines[row] ?? '').slice(0, column);
        lines.length = row + 1;
      } else if (kind !== undefined) continue;
      else if (whole === '\r') column = 0;
      else if (whole === '\n') {
        row++;
        column = 0;
        lines[row] ??= '';
      } else put(whole);
    }
    return lines.map((line) => unpainted(line).trimEnd());
  }

  test('the list is redrawn in place as offers land, and gone before the result', async () => {
    const run = await searching({
      terminal: true,
      updates: [{ offers: [late('lowcost:a', '08', '150.00')] }, { status: 'complete' }],
    });
    expect(run.written.stdout).toBe('');
    const before = screenOf(run.written.stderr);
    expect(before.filter((line) => /^→ 0\d:00/.test(line))).toHaveLength(2);
    expect(before.at(-1)).toMatch(/Still quoting lowcost…$/);
    await run.advance(1_000);
    const after = screenOf(run.written.stderr);
    expect(after.filter((line) => /^→ 0\d:00/.test(line)).map((line) => line.slice(2, 4))).toEqual(['06', '08', '07']);
    expect(after.at(-1)).toMatch(/Still quoting lowcost… 1 more so far$/);
    await run.advance(1_000);
    await run.running;
    expect(run.written.stdout).toMatch(/^LIS → BER[\s\S]*Pelican/);
    expect(screenOf(run.written.stderr).join('\n').trim()).toMatch(/^Next: farelock intent off_1/);
  });

  test('a turn of the spinner writes one line, not the list', async () => {
    const run = await searching({ terminal: true });
    const before = run.written.stderr.length;
    await run.advance(150);
    const written = run.written.stderr.slice(before);
    expect(written).toMatch(/^\r\S+ Still quoting/);
    expect(written).not.toContain('\n');
    run.stop.abort(problem('interrupted'));
    await run.running;
  });

  test('it is never taller than the terminal', async () => {
    const many = Array.from({ length: 30 }, (_, i) => late(`lowcost:${i}`, String(i % 24).padStart(2, '0'), `${i}.00`));
    const run = await searching({ terminal: true, rows: 12, updates: [{ offers: many }] });
    await run.advance(1_000);
    const lines = screenOf(run.written.stderr);
    expect(lines.length).toBeLessThan(12);
    expect(lines.at(-1)).toMatch(/30 more so far/);
    expect(lines.at(-3)).toMatch(/… \d+ more lines/);
    run.stop.abort(problem('interrupted'));
    await run.running;
  });

  test('Ctrl-C shows what is there, and says that something may be missing', async () => {
    const run = await searching({ terminal: true, updates: [{ offers: [late('lowcost:a', '08', '150.00')] }] });
    await run.advance(1_000);
    run.stop.abort(problem('interrupted'));
    await run.running;
    expect(run.exitCode()).toBe(130);
    expect(run.written.stdout).toMatch(/Pelican[\s\S]*Some sellers have not answered yet/);
    expect(run.written.stderr).toMatch(/Interrupted: slower offers may be missing/);
  });
});
