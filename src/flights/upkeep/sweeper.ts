import { sql } from 'kysely';
import { DAY_MS } from '../../kernel/clock.ts';
import { isProblem } from '../../kernel/problems.ts';
import type { Escrows } from '../bookings/escrows.ts';
import { lookForLateTicket } from '../bookings/late-ticket.ts';
import type { IntentRow } from '../rows.ts';
import type { UpkeepTask } from '../tables.ts';
import { createChainUpkeep, nextLookMs, vaultsWithMoney } from './late-money.ts';
import { CLOSE_AFTER_MS, farthestMs } from './plan-upkeep.ts';
import { prune } from './prune.ts';
import { purge } from './purge.ts';
import type { SweeperPorts } from './sweeper-ports.ts';

const MOST_AT_ONCE = 50;
/** A heap is taken away in bites, and quicker than it can grow. */
const SOON_MS = 1_000;
/** /ready says no until a person has ended what a restored database left open: it hears of that soon. */
const BEHIND_MS = 15_000;

type Due = IntentRow & { readonly ended_at_ms: number };

/**
 * The sweeper: what is left to do once bookings have ended. Late money goes to its refund wallet, late tickets are looked
 * for, escrows are closed, personal data is purged, dead rows are pruned. Every task is a row until it is done, and safe
 * to repeat: several sweepers at once, or one that dies anywhere, do no harm. (Expired intents are retired by the worker
 * itself.)
 */
export function createSweeper(ports: SweeperPorts, escrows: Escrows) {
  return {
    /**
     * One sweep: up to 50 tasks of each kind, and a bite of what is dead.
     * @returns `againMs`: when to sweep again, where that is sooner than usual
     */
    async sweep(): Promise<{ readonly worked: number; readonly againMs: number | null }> {
      const isMoreDead = await prune(ports);
      const { worked, isBehind } = await restored(ports);
      const counts = [
        worked,
        await lateMoney(ports, escrows),
        await lateTickets(ports),
        await closeEscrows(ports, escrows),
        await purgeDue(ports),
      ];
      return {
        worked: counts.reduce((sum, count) => sum + count, 0),
        againMs:
          isMoreDead || counts.some((count) => count === MOST_AT_ONCE)
            ? SOON_MS
            : isBehind
              ? BEHIND_MS
              : null,
      };
    },
  };
}

/** A cluster that does not answer keeps nothing else waiting. */
async function restored(ports: SweeperPorts): ReturnType<typeof import('./restored.ts').findRestored> {
  try {
    return await (await import('./restored.ts')).findRestored(ports);
  } catch (error) {
    if (!isProblem(error, 'cluster_failed')) throw error;
    ports.log('warn', 'chain_unread', { error_code: error.code });
    return { worked: 0, isBehind: false };
  }
}

/** Due tasks of a kind, with their intents; they are moved ahead first, so that a failing one waits its turn. */
async function take({ store, clock, options }: SweeperPorts, task: UpkeepTask): Promise<Due[]> {
  const nowMs = clock.now();
  return store.transaction().execute(async (tx) => {
    const rows = await tx
      .selectFrom('upkeep')
      .innerJoin('intents', 'intents.intent_id', 'upkeep.intent_id')
      .selectAll('intents')
      .select('upkeep.created_at_ms as ended_at_ms')
      .where('upkeep.task', '=', task)
      .where((due) =>
        due.or([
          due('upkeep.due_at_ms', '<=', nowMs),
          // Further ahead than any task is put: the clock was set back since.
          due('upkeep.due_at_ms', '>', nowMs + farthestMs(task, options)),
        ]),
      )
      .limit(MOST_AT_ONCE)
      .execute();
    if (rows.length > 0) {
      await tx
        .updateTable('upkeep')
        .set((column) => ({
          due_at_ms: nowMs + DAY_MS,
          attempts: column('attempts', '+', 1),
          created_at_ms: sql<number>`case when created_at_ms > ${nowMs} then ${nowMs} else created_at_ms end`,
        }))
        .where('task', '=', task)
        .where(
          'intent_id',
          'in',
          rows.map((row) => row.intent_id),
        )
        .execute();
    }
    return rows;
  });
}

const putOff = ({ store }: SweeperPorts, intents: readonly IntentRow[], task: UpkeepTask, dueAtMs: number) =>
  store
    .updateTable('upkeep')
    .set({ due_at_ms: dueAtMs })
    .where('task', '=', task)
    .where(
      'intent_id',
      'in',
      intents.map((intent) => intent.intent_id),
    )
    .execute();

const done = ({ store }: SweeperPorts, intent: IntentRow, ...tasks: UpkeepTask[]) =>
  store.deleteFrom('upkeep').where('intent_id', '=', intent.intent_id).where('task', 'in', tasks).execute();

/** One that fails must not keep the others from their turn; it is due again in a day. */
async function each(
  { log }: SweeperPorts,
  intents: readonly Due[],
  task: UpkeepTask,
  work: (intent: Due) => Promise<void>,
): Promise<number> {
  for (const intent of intents) {
    try {
      await work(intent);
    } catch (error) {
      log('warn', 'upkeep_put_off', {
        intent_id: intent.intent_id,
        task,
        error_code: isProblem(error) ? error.code : 'unexpected',
        error_name: error instanceof Error ? error.name : 'unknown',
      });
    }
  }
  return intents.length;
}

async function lateMoney(ports: SweeperPorts, escrows: Escrows): Promise<number> {
  const onChain = createChainUpkeep(ports, escrows);
  const intents = await take(ports, 'late_money');
  if (intents.length === 0) return 0;
  const nowMs = ports.clock.now();
  for (const intent of intents) {
    await putOff(ports, [intent], 'late_money', nowMs + nextLookMs(nowMs - intent.ended_at_ms));
  }
  await each(ports, await holding(ports, intents), 'late_money', (intent) => onChain.sweepLate(intent));
  return intents.length;
}

const holding = async ({ cluster }: SweeperPorts, intents: readonly Due[]): Promise<Due[]> => {
  const full = new Set((await vaultsWithMoney(cluster, intents)).map((intent) => intent.intent_id));
  return intents.filter((intent) => full.has(intent.intent_id));
};

const lateTickets = async (ports: SweeperPorts): Promise<number> =>
  each(ports, await take(ports, 'late_ticket'), 'late_ticket', async (intent) => {
    const endedForMs = ports.clock.now() - intent.ended_at_ms;
    if (await lookForLateTicket(ports, intent, endedForMs)) await done(ports, intent, 'late_ticket');
    else await putOff(ports, [intent], 'late_ticket', ports.clock.now() + nextLookMs(endedForMs));
  });

/** The end of an escrow on chain is later than that of its booking here, never earlier by more than a clock's error. */
async function closeEscrows(ports: SweeperPorts, escrows: Escrows): Promise<number> {
  return each(ports, await take(ports, 'close_escrow'), 'close_escrow', async (intent) => {
    if (ports.clock.now() < intent.ended_at_ms + CLOSE_AFTER_MS) {
      await putOff(ports, [intent], 'close_escrow', intent.ended_at_ms + CLOSE_AFTER_MS);
      return;
    }
    // What comes later goes to the refund owner all the same (docs/escrow.md, Recover): anybody may see to it.
    if (await escrows.close(intent)) await done(ports, intent, 'close_escrow', 'late_money');
  });
}

const purgeDue = async (ports: SweeperPorts): Promise<number> =>
  each(ports, await take(ports, 'purge'), 'purge', async (intent) => {
    const againAtMs = await purge(ports, intent);
    if (againAtMs === null) await done(ports, intent, 'purge');
    else await putOff(ports, [intent], 'purge', againAtMs);
  });
