import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inMemory } from '../cli/memory.ts';
import { BIN, farelockIn, PASSENGER, type Runner } from '../e2e/farelock.ts';
import { isHere } from '../needs.mjs';
import { isProof } from '../rounds.ts';

/**
 * A command loads what it uses (docs/house.md, Quick starts). Each command runs as a process of its own; the
 * chunks that it reads are told by trace-loads.cjs, and which modules lie in a chunk by dist/modules.json of the build.
 */

const DIST = resolve(import.meta.dirname, '../../dist');
const TRACE = resolve(import.meta.dirname, 'trace-loads.cjs');
const isBuilt = isHere('the built tool', existsSync(join(DIST, 'modules.json')));

interface Loads {
  readonly chunks: readonly string[];
  readonly packages: readonly string[];
  readonly builtins: readonly string[];
  /** Each wait for the disk, by file and statement. */
  readonly syncs: readonly string[];
  /** Virtual machines of LiteSVM. */
  readonly machines: number;
}

describe.runIf(isBuilt)('a command loads what it uses', () => {
  const scratch = mkdtempSync(join(tmpdir(), 'farelock-loads-'));
  let farelock: Runner;
  let modulesOf: Record<string, readonly string[]>;
  const passengers = join(scratch, 'passengers.json');
  let intentId = '';
  let openIntentId = '';
  let offerId = '';
  beforeAll(async () => {
    farelock = farelockIn();
    modulesOf = JSON.parse(readFileSync(join(DIST, 'modules.json'), 'utf8')) as typeof modulesOf;
    const beside = inMemory(farelock);
    const search = await beside.run(['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait']);
    const { offers } = search.json<{ offers: { offer_id: string; total_currency: string }[] }>();
    const inDollars = offers.filter((offer) => offer.total_currency === 'USD');
    offerId = inDollars[0]?.offer_id ?? '';
    const create = async (offer: string) => {
      const intent = await beside.run(['intent', 'create', offer, '--json']);
      return intent.json<{ intent_id: string }>().intent_id;
    };
    intentId = await create(offerId);
    openIntentId = await create(inDollars[1]?.offer_id ?? '');
    writeFileSync(passengers, JSON.stringify([PASSENGER]), { mode: 0o600 });
    await beside.run(['book', intentId, '--passengers', '-', '--yes', '--json'], {
      input: JSON.stringify([PASSENGER]),
    });
  });
  afterAll(() => {
    farelock.close();
    rmSync(scratch, { recursive: true });
  });

  async function loadsOf(args: readonly string[], input = ''): Promise<Loads> {
    const file = join(scratch, 'loads.json');
    rmSync(file, { force: true });
    const ran = await execa(process.execPath, ['--require', TRACE, BIN, ...args], {
      env: { ...farelock.env, TEST_LOADS: file },
      input,
      reject: false,
    });
    expect(ran.exitCode, `${args.join(' ')}\n${ran.stderr}${ran.stdout}`).toBe(0);
    return JSON.parse(readFileSync(file, 'utf8')) as Loads;
  }

  /** Everything that a run loads: `src/…`, `package:name`, `node:name`. */
  function modulesIn(loads: Loads): string[] {
    const modules = [...new Set(loads.chunks)].flatMap((chunk) => {
      const inside = modulesOf[chunk];
      if (!inside) throw new Error(`${chunk} is not in modules.json: build again`);
      return inside;
    });
    return [
      ...modules.map((id) => id.replace(/^.*node_modules\/((?:@[^/]+\/)?[^/]+)\/.*$/, 'package:$1')),
      ...loads.packages.map((id) => `package:${id}`),
      ...loads.builtins.filter((id) => id.includes('undici')).map(() => 'package:undici'),
      ...loads.builtins
        .filter((id) => ['http', 'https', 'http2', 'tls', 'crypto', 'perf_hooks'].includes(id))
        .map((id) => `node:${id}`),
    ];
  }

  const SERVICES =
    /^src\/(service|flights\/(?!look)|partner\/(?!look)|payments\/|notify\/|store\/|escrow\/|effects\/|http\/|sandbox\/)|^package:(hono|kysely|libsql|@libsql|zod)/;
  const CHAIN = /^package:(@solana|@x402|litesvm|bs58)/;
  const ASKING = /^package:(@?inquirer|ora|conf)\b/;
  const SERVING =
    /^package:(@hono\/node-server|pg|prom-client|@modelcontextprotocol|protobufjs|@connectrpc)|^node:http/;
  /** Ten modules of the platform, for a clock that `process.uptime` has too. */
  const PERFORMANCE = /^node:perf_hooks$/;
  const WEB3 = /^package:(@solana\/web3\.js|rpc-websockets|ws|jayson|node-fetch)$/;
  const NETWORK = /^package:undici$|^node:(http|https|http2|tls)$/;
  const EXECUTOR = /^package:litesvm/;
  const CUSTOMERS =
    /^src\/partner\/(orders\/(?!creation-due)|http|customer-data)|^package:(ibantools|libphonenumber-js|ipaddr\.js)$/;
  const MAIL = /^package:nodemailer$/;
  /** What pays, and the schemas of what is paid for. */
  const PAYING = /^src\/(client\/payer\/|payments\/payload|wire\/flights\/schema)|^package:(@x402|zod)/;
  /** The schemas of what a service answers: for /openapi.json and tests alone. */
  const ANSWERS = /^src\/wire\/flights\/(schema|offers)\.ts$/;
  /** The tool's own journal. */
  const JOURNAL = /^src\/client\/journal\//;
  /** The services. */
  const STACK = /^src\/(service|flights\/(?!look)|partner\/(?!look)|payments\/|notify\/|escrow\/)|^package:hono/;
  /** The screen of `refund desk`, for it alone. */
  const BOARD = /^src\/(terminal\/board|cli\/view\/flights\/refund-desk|commands\/refund-desk\/(desk|keys))\.ts$/;
  /** Real airlines and carriers' web sites (their tables apart, which every database has), their doubles, and what they stand on: for who serves them alone. */
  const REAL_SEATS =
    /^src\/(service\/(browser|carrier-site|sandbox)\.ts$|(airlines\/(duffel|browser)(?!\/(tables|call-off))|sandbox\/(duffel|carrier-site))\/)|^package:(playwright-core|mailauth|postal-mime)$/;
  const ALL_COMMANDS =
    /^src\/cli\/commands\/(?!search\/request)[^/]+\/(run|days|fares|create|verify|resume|deploy|profile|desk|request|claim|offers|update|apply|watch|updates|history|limits|balance)\.ts$/;

  interface Rule {
    readonly args: () => string[];
    /** The commands' own files under src/cli/commands. */
    readonly own: readonly string[];
    readonly never: readonly RegExp[];
    /** Chunks that it may read: each is a file of its own, and another one of compiled code. */
    readonly most?: number;
    /** How often it may wait for the disk: of each file that a process has left, once before it is read. */
    readonly syncs?: number;
    readonly after?: () => Promise<unknown>;
  }
  const NOTHING = [
    /^node:crypto$/,
    SERVICES,
    CHAIN,
    ASKING,
    SERVING,
    NETWORK,
    MAIL,
    /^src\/(client|solana)\//,
    // What every command loads is text, terminal and command line: no settings, no session, no view of a command's result.
    /^src\/cli\/(settings|session|interruption\/story|upgrade\/latest|view\/(?!problem))/,
  ];
  const rules: Record<string, Rule> = {
    '--version': { args: () => ['--version'], own: [], never: NOTHING, most: 3 },
    '--help': { args: () => ['--help'], own: [], never: NOTHING, most: 3 },
    'search --help': { args: () => ['search', '--help'], own: [], never: NOTHING },
    'help --json': {
      args: () => ['help', '--json'],
      own: ['help/run'],
      never: [SERVICES, CHAIN, ASKING, SERVING, NETWORK],
    },
    explain: {
      args: () => ['explain', 'offer_expired'],
      own: ['explain/run'],
      never: [SERVICES, CHAIN, ASKING, SERVING, NETWORK],
    },
    airports: {
      args: () => ['airports', 'lisbon'],
      own: ['airports/run'],
      never: [SERVICES, CHAIN, ASKING, SERVING, NETWORK],
    },
    schema: {
      args: () => ['schema', 'search'],
      own: ['schema/run'],
      never: [SERVICES, CHAIN, ASKING, SERVING, NETWORK],
    },
    completion: {
      args: () => ['completion', 'bash'],
      own: ['completion/run'],
      never: [SERVICES, CHAIN, ASKING, SERVING, NETWORK],
    },
    'the words of a command line, for a shell': {
      args: () => ['complete', '--', 'search', 'lis'],
      own: [],
      never: [SERVICES, CHAIN, ASKING, SERVING, NETWORK],
    },
    'ids of this home, for a shell': {
      args: () => ['complete', '--', 'partner', 'orders', 'show', ''],
      own: [],
      // Of the rooms below only what reads a file of rows.
      never: [STACK, /^package:(kysely|zod)/, CHAIN, ASKING, SERVING, NETWORK],
    },
    doctor: {
      args: () => ['doctor'],
      own: ['doctor/run'],
      never: [EXECUTOR, PAYING, WEB3, ASKING, SERVING, NETWORK, CUSTOMERS, MAIL],
    },
    status: {
      args: () => ['status', intentId, '--json'],
      own: ['status/run'],
      most: 11,
      syncs: 1,
      never: [EXECUTOR, /^package:(@x402|zod)/, PERFORMANCE, WEB3, ASKING, SERVING, NETWORK, CUSTOMERS, MAIL],
    },
    search: {
      args: () => ['search', 'LIS', 'BER', '--depart', '+30d', '--json', '--no-wait'],
      own: ['search/run'],
      most: 14,
      syncs: 7,
      never: [ANSWERS, PERFORMANCE, WEB3, ASKING, SERVING, NETWORK, CUSTOMERS, MAIL],
    },
    'intent create': {
      args: () => ['intent', 'create', offerId, '--dry-run'],
      own: ['intent/create'],
      most: 14,
      never: [ANSWERS, WEB3, ASKING, SERVING, NETWORK, CUSTOMERS, MAIL],
    },
    book: {
      args: () => ['book', openIntentId, '--passengers', passengers, '--yes', '--no-wait', '--json'],
      own: ['book/run'],
      most: 19,
      syncs: 9,
      never: [ANSWERS, PERFORMANCE, WEB3, ASKING, SERVING, NETWORK, MAIL],
      // Else the next command would do the booking's work.
      after: () => inMemory(farelock).run(['status', openIntentId, '--watch']),
    },
    'status --verify': {
      args: () => ['status', intentId, '--verify'],
      own: ['intent/verify', 'status/run'],
      never: [WEB3, ASKING, SERVING, NETWORK, CUSTOMERS, MAIL],
    },
    'refund queue': {
      args: () => ['refund', 'queue'],
      own: ['refund/run'],
      never: [EXECUTOR, JOURNAL, WEB3, ASKING, SERVING, NETWORK, CUSTOMERS, MAIL],
    },
    'wallet show': {
      args: () => ['wallet', 'show'],
      own: ['wallet/run'],
      never: [EXECUTOR, PAYING, JOURNAL, WEB3, ASKING, SERVING, NETWORK, CUSTOMERS, MAIL],
    },
    'payments list': {
      args: () => ['payments', 'list'],
      own: ['payments/run'],
      never: [CHAIN, PAYING, STACK, WEB3, ASKING, SERVING, NETWORK, CUSTOMERS, MAIL],
    },
    'wallet balance': {
      args: () => ['wallet', 'balance'],
      own: ['wallet/balance'],
      never: [EXECUTOR, ASKING, CUSTOMERS, MAIL, /^package:(@hono\/node-server|pg|node-fetch|tr46|ws)$/],
      most: 16,
    },
    'partner orders list': {
      args: () => ['partner', 'orders', 'list'],
      own: ['partner/run'],
      never: [
        EXECUTOR,
        JOURNAL,
        WEB3,
        ASKING,
        MAIL,
        /^src\/(flights\/upkeep\/sweeper|client\/payer)|^package:(@hono\/node-server|pg|ibantools|libphonenumber-js|undici)/,
      ],
    },
  };

  const inGate = ['search', 'book', 'status', 'wallet balance'];
  const played = Object.entries(rules).filter(([name]) => isProof || inGate.includes(name));
  test.each(played)('%s', async (_name, { args, own, never, most, syncs, after }) => {
    const loads = await loadsOf(args());
    await after?.();
    if (most !== undefined) expect(new Set(loads.chunks).size).toBeLessThanOrEqual(most);
    if (syncs !== undefined) expect(loads.syncs.slice(syncs)).toEqual([]);
    expect(loads.machines).toBeLessThanOrEqual(1);
    const loaded = [...new Set(modulesIn(loads))];
    const commands = loaded.filter((id) => ALL_COMMANDS.test(id));
    expect(commands.sort()).toEqual(own.map((name) => `src/cli/commands/${name}.ts`).sort());
    expect(loaded.filter((id) => [...never, BOARD, REAL_SEATS].some((pattern) => pattern.test(id)))).toEqual([]);
  });

  test('serve has prom-client in the chunk of /metrics, which is loaded with the setting alone', () => {
    const chunks = Object.values(modulesOf).filter((inside) => inside.some((id) => id.includes('/prom-client/')));
    expect(chunks.length).toBeGreaterThan(0);
    for (const inside of chunks) {
      const own = inside.filter((id) => id.startsWith('src/'));
      expect(own.filter((id) => !/^src\/cli\/commands\/serve\/metrics(-table)?\.ts$/.test(id))).toEqual([]);
    }
  });

  test('the trace sees what a command does load', async () => {
    const loaded = modulesIn(await loadsOf(['wallet', 'balance']));
    expect(loaded).toEqual(
      expect.arrayContaining(['src/service/index.ts', 'package:@solana/web3.js', 'package:kysely']),
    );
    const search = await loadsOf(['search', 'LIS', 'OPO', '--depart', '+40d', '--no-wait', '--json']);
    expect(modulesIn(search)).toEqual(expect.arrayContaining(['package:litesvm', 'package:zod', 'package:@x402/core']));
    expect(search.machines).toBe(1);
    // The payment before it is sent, and the transaction that settles it.
    expect(search.syncs).toEqual(expect.arrayContaining(['client.db: commit', 'ledger.db: commit']));
  });
});
