import { randomBytes } from 'node:crypto';
import type { Selectable } from 'kysely';
import { instant } from '../../kernel/clock.ts';
import { problem } from '../../kernel/problems.ts';
import { ensureLine } from '../../kernel/secrets.ts';
import { inTurn } from '../../store/base/index.ts';
import type { IssuedKey, KeysQuery, OperatorKey, OperatorKeys } from '../../wire/flights/index.ts';
import type { ApiKeyTable, FlightsPorts, Operator, Store } from '../base/index.ts';
import { instantOrNull, writeAudit } from '../base/index.ts';

type KeyPorts = Pick<FlightsPorts, 'store' | 'secrets' | 'clock' | 'ids'>;

const PREFIX = 'flk_op_';
const KIND = 'operator';
/** A key's last use is noted to the minute, so that most reads stay reads. */
const USE_NOTED_MS = 60_000;

const newKey = (): string => `${PREFIX}${randomBytes(24).toString('base64url')}`;
const keyHmac = (secrets: KeyPorts['secrets'], key: string): string => secrets.hmac('api key', key);

/** Makes the private file of the operator's first key if it is missing. A revoked key stays revoked. @returns `path` */
export async function ensureOperatorKeyFile(ports: KeyPorts, path: string): Promise<string> {
  const key = ensureLine(path, PREFIX, newKey);
  await insert(ports.store, ports, 'local', key);
  return path;
}

async function insert(on: Store, { secrets, clock, ids }: KeyPorts, name: string, key: string) {
  const row = {
    key_id: ids.next('key'),
    kind: KIND,
    name,
    key_hmac: keyHmac(secrets, key),
    created_at_ms: clock.now(),
    last_used_at_ms: null,
    revoked_at_ms: null,
  } as const;
  await on
    .insertInto('api_keys')
    .values(row)
    .onConflict((conflict) => conflict.column('key_hmac').doNothing())
    .execute();
  return row;
}

const shown = (row: Selectable<ApiKeyTable>): OperatorKey => ({
  key_id: row.key_id,
  kind: row.kind,
  name: row.name,
  created_at: instant(row.created_at_ms),
  last_used_at: instantOrNull(row.last_used_at_ms),
  revoked_at: instantOrNull(row.revoked_at_ms),
});

export function createOperatorKeys(ports: KeyPorts) {
  const { store, secrets, clock } = ports;
  return {
    /** Finds a key by its hash, never by its text. @throws `operator_key_required`, `operator_key_invalid` */
    async authenticate(header: string | null): Promise<Operator> {
      const match = /^Bearer +(\S+)$/i.exec(header?.trim() ?? '');
      if (!match) throw problem('operator_key_required');
      const row = await store
        .selectFrom('api_keys')
        .select(['key_id', 'name', 'last_used_at_ms'])
        .where('key_hmac', '=', keyHmac(secrets, match[1] ?? ''))
        .where('kind', '=', KIND)
        .where('revoked_at_ms', 'is', null)
        .executeTakeFirst();
      if (!row) throw problem('operator_key_invalid');
      const nowMs = clock.now();
      if ((row.last_used_at_ms ?? 0) <= nowMs - USE_NOTED_MS) {
        await store.updateTable('api_keys').set({ last_used_at_ms: nowMs }).where('key_id', '=', row.key_id).execute();
      }
      return { keyId: row.key_id, name: row.name };
    },

    async list({ limit, cursor }: KeysQuery): Promise<OperatorKeys> {
      const rows = await store
        .selectFrom('api_keys')
        .selectAll()
        .$if(cursor !== undefined, (query) => query.where('key_id', '>', cursor ?? ''))
        .orderBy('key_id')
        .limit(limit + 1)
        .execute();
      const page = rows.slice(0, limit);
      return { keys: page.map(shown), next_cursor: rows.length > limit ? (page.at(-1)?.key_id ?? null) : null };
    },

    /** Issues a key, and shows it this one time. */
    async issue(operator: Operator, name: string, requestId: string): Promise<IssuedKey> {
      const key = newKey();
      return inTurn(store, ['api_keys'], async (tx) => {
        const row = await insert(tx, ports, name, key);
        await writeAudit(tx, ports, {
          operator,
          requestId,
          action: 'key.issue',
          subject: row.key_id,
          detail: { name },
        });
        return { ...shown(row), key };
      });
    },

    async revoke(operator: Operator, keyId: string, requestId: string): Promise<OperatorKey> {
      return inTurn(store, ['api_keys'], async (tx) => {
        const rows = await tx.selectFrom('api_keys').selectAll().where('kind', '=', KIND).execute();
        const row = rows.find((one) => one.key_id === keyId);
        if (!row) throw problem('operator_key_not_found');
        if (row.revoked_at_ms !== null) return shown(row);
        if (rows.filter((one) => one.revoked_at_ms === null).length === 1) throw problem('operator_key_last');
        const revokedAtMs = clock.now();
        await tx.updateTable('api_keys').set({ revoked_at_ms: revokedAtMs }).where('key_id', '=', keyId).execute();
        await writeAudit(tx, ports, { operator, requestId, action: 'key.revoke', subject: keyId });
        return shown({ ...row, revoked_at_ms: revokedAtMs });
      });
    },
  };
}
