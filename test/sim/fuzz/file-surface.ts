import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkRows } from '../../../src/cli/apply/check.ts';
import { readRows } from '../../../src/cli/apply/read.ts';
import { readProjectSettings, readUserSettings } from '../../../src/cli/settings/file.ts';
import { clientMigrations } from '../../../src/client/journal/store-schema.ts';
import { checkPassengers } from '../../../src/kernel/domain/passengers.ts';
import { openSecrets } from '../../../src/kernel/secrets.ts';
import { loadPolicy } from '../../../src/partner/compliance/policy.ts';
import { openStore } from '../../../src/service/home.ts';
import { openEmbeddedCluster } from '../../../src/solana/embedded/open.ts';
import { createKeypairFile, readKeypair, readOwnKeypair } from '../../../src/solana/keypair.ts';
import { openDatabase } from '../../../src/store/open.ts';
import { worldClock } from '../../clock.ts';
import { PASSENGER } from '../../e2e/farelock.ts';
import type { Mutator } from './mutator.ts';
import { isTold, type OpenSurface, wordsOf } from './surface.ts';

/** Files that people write and disks damage. */

const SETTINGS = {
  profile: 'staging',
  limits: { per_call: '1.00', per_day: '50' },
  profiles: {
    staging: {
      flights_url: 'https://flights.example',
      rpc_url: 'https://rpc.example',
      keypair: '/home/ana/me.json',
      partner_url: 'https://partner.example',
    },
  },
};
const CSV = `order_id,status,source_transaction_id,reason
rmp_1,FUNDS_RECEIVED,tx-1,
rmp_2,ERROR,,"It said ""no"", twice"
rmp_3,PAYMENT_SUBMITTED,tx-3,
`;
const NDJSON = `{"orderId":"rmp_1","status":"FUNDS_RECEIVED","sourceTransactionId":"tx-1"}
{"orderId":"rmp_2","status":"ERROR","reason":"closed","returnDetails":{"reason":"Returned."}}
`;

/** A kind of file: how one is damaged, and what reads it. */
interface Kind {
  readonly name: string;
  /** How often it is chosen. */
  readonly weight: number;
  damage(): string | Uint8Array;
  read(path: string, content: string | Uint8Array): unknown;
}

const texts =
  ({ jsonText, text, chance, bytes }: Mutator, good: string) =>
  (): string | Uint8Array => {
    const kind = chance();
    if (kind < 0.1) return bytes(Buffer.from(good));
    return kind < 0.55 ? jsonText(good, good) : text(good);
  };

async function textKinds(mutator: Mutator, folder: string): Promise<Kind[]> {
  const keypair = join(folder, 'keypair.json');
  createKeypairFile(keypair);
  const ring = join(folder, 'ring.json');
  openSecrets(ring);
  const of = (name: string, weight: number, good: string, read: Kind['read']): Kind => ({
    ...{ name, weight, read },
    damage: texts(mutator, good),
  });
  const rules = { count: 1, departureDate: '2026-12-20', today: '2026-11-21', documentsRequired: true };
  return [
    of('keypair', 6, readFileSync(keypair, 'utf8'), (path) => readKeypair(path).address),
    of('own keypair', 4, readFileSync(keypair, 'utf8'), (path) => readOwnKeypair(path).address),
    of('key ring', 6, readFileSync(ring, 'utf8'), (path) => openSecrets(path).encrypt('here', 'x')),
    of('settings', 6, JSON.stringify(SETTINGS), (path) => readUserSettings(path)),
    of('project settings', 6, JSON.stringify({ profile: 'staging', search: { adults: 2 } }), (path) =>
      readProjectSettings(path),
    ),
    of('compliance policy', 3, JSON.stringify(loadPolicy()), (path) => loadPolicy(path)),
    of('orders as CSV', 14, CSV, async (_path, text) => checkRows((await readRows(String(text))).rows)),
    of('orders as NDJSON', 14, NDJSON, async (_path, text) => checkRows((await readRows(String(text))).rows)),
    of('passengers', 14, JSON.stringify([PASSENGER]), async (_path, text) => {
      const list = parsed(String(text));
      return checkPassengers(Array.isArray(list) ? list : [list], rules);
    }),
  ];
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Databases with bytes that a disk has turned. */
async function databaseKinds({ bytes, upTo, chance }: Mutator, folder: string): Promise<Kind[]> {
  const made = async (name: string, open: (path: string) => Promise<{ close(): unknown }>) => {
    const path = join(folder, `${name}.db`);
    await (await open(path)).close();
    const good = readFileSync(path);
    return {
      name: `${name} database`,
      weight: 1,
      damage() {
        // Mostly in the first pages, which everything needs.
        const most = chance() < 0.5 ? Math.min(good.length, 4_096) : good.length;
        const at = upTo(most);
        const end = Math.min(good.length, at + 1 + upTo(64));
        const part = bytes(good.subarray(at, end));
        return Buffer.concat([good.subarray(0, at), part, good.subarray(end)]);
      },
      read: async (damaged: string) => (await open(damaged)).close(),
    };
  };
  return [
    await made('service', async (path) => {
      const store = await openStore(path);
      return { close: () => store.destroy() };
    }),
    await made('client', async (path) => {
      const store = await openDatabase(path, clientMigrations);
      return { close: () => store.destroy() };
    }),
    await made('ledger', (path) => openEmbeddedCluster({ path, clock: worldClock })),
  ];
}

const PATHS_LEFT = ['-wal', '-shm', '-journal'];

export const openFileSurface: OpenSurface = async (mutator) => {
  const folder = mkdtempSync(join(tmpdir(), 'farelock-fuzz-'));
  const kinds = [...(await textKinds(mutator, folder)), ...(await databaseKinds(mutator, folder))];
  const chosen = kinds.flatMap((kind) => Array.from({ length: kind.weight * (kind.weight > 1 ? 8 : 1) }, () => kind));
  const path = join(folder, 'damaged');
  return {
    async bad() {
      const kind = mutator.oneOf(chosen);
      const content = kind.damage();
      writeFileSync(path, content, { mode: 0o600 });
      chmodSync(path, 0o600);
      for (const end of PATHS_LEFT) rmSync(path + end, { force: true });
      const input = `${kind.name}: ${typeof content === 'string' ? content : Buffer.from(content).toString('base64')}`;
      try {
        await kind.read(path, content);
        return { input, answer: `${kind.name}: read`, wrong: null };
      } catch (error) {
        const wrong = isTold(error) ? null : `throws ${wordsOf(error)}`;
        return { input, answer: `${kind.name}: refused`, wrong };
      }
    },
    atRest: async () => [],
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
};
