import type { Updateable } from 'kysely';
import { FUNDED } from '../../domain/order-moves.ts';
import { isProblem, problem } from '../../kernel/problems.ts';
import { unlessLost } from '../../store/leases.ts';
import type { OrderStatus } from '../../wire/partner/schema.ts';
import { linkCustomer } from '../desk/customers.ts';
import { pageOperator } from '../page.ts';
import type { PartnerPorts } from '../ports.ts';
import type { PartnerOrderTable, Tx } from '../tables.ts';
import { type CreationEnd, type Creations, noteOf, sealNote } from './creations.ts';
import { recordChange } from './order-history.ts';
import { type OrderRow, sealColumn } from './order-record.ts';
import type { CreateOrderAnswer, RedirectOrderAnswer } from './platform-answers.ts';

type Columns = Updateable<PartnerOrderTable>;

const EXTERNAL_ID_TAKEN = 'externalOrderId belongs to another order';

/**
 * How a creation ends. Each end is one transaction that holds the row's fence: of two drives of one creation, the
 * later one's answer counts, and the earlier one's is dropped. The platform gives both the same answer.
 */
export function createCreationEnds(ports: PartnerPorts, { queue }: Creations) {
  const { store, secrets, clock } = ports;
  const end = (row: OrderRow, work: (tx: Tx, nowMs: number) => Promise<Columns>): Promise<void> =>
    unlessLost(() =>
      store.transaction().execute(async (tx) => {
        const nowMs = Math.max(clock.now(), row.created_at_ms);
        await queue.check(row, tx);
        const columns = await work(tx, nowMs);
        await queue.finish(row, { ...columns, due_at_ms: null, updated_at_ms: nowMs }, tx);
      }),
    );

  const seal = (row: OrderRow, column: Parameters<typeof sealColumn>[1], value: unknown) =>
    sealColumn(secrets, column, row.order_id, value);

  /** It took the order, or may have, and a person has to look: the order exists, in ERROR, with the reason. */
  const faulty = (row: OrderRow, fault: string, requestId: string): Promise<void> =>
    end(row, async (tx, nowMs) => {
      await beginOrder(ports, tx, row, 'ERROR', requestId, nowMs);
      await pageError(ports, tx, row, fault);
      return {
        creation: 'created',
        status: 'ERROR',
        reason_sealed: seal(row, 'reason_sealed', `Create Order: ${fault}.`.slice(0, 1000)),
        creation_sealed: null,
        last_error: fault.slice(0, 300),
      };
    });

  return {
    faulty,

    /** The platform took it. */
    async taken(row: OrderRow, answer: CreateOrderAnswer, requestId: string): Promise<void> {
      const { status, depositInstructions } = answer;
      try {
        await end(row, async (tx, nowMs) => {
          const twin = await tx
            .selectFrom('partner_orders')
            .select('order_id')
            .where('partner_id', '=', row.partner_id)
            .where('external_id', '=', answer.externalOrderId)
            .executeTakeFirst();
          // Updates about one order would move the other one's money.
          if (twin) throw problem('partner_answer_invalid');
          await beginOrder(ports, tx, row, status, requestId, nowMs);
          return {
            creation: 'created',
            status,
            external_id: answer.externalOrderId,
            destination_amount: answer.toAmount,
            ...(depositInstructions && {
              deposit_instructions_sealed: seal(row, 'deposit_instructions_sealed', depositInstructions),
            }),
            funds_seen: FUNDED.has(status) ? 1 : 0,
            payment_processed: status === 'PAYMENT_PROCESSED' ? 1 : 0,
            creation_sealed: null,
            last_error: null,
          };
        });
      } catch (error) {
        if (!isProblem(error, 'partner_answer_invalid')) throw error;
        await faulty(row, EXTERNAL_ID_TAKEN, requestId);
      }
    },

    redirected: (row: OrderRow, answer: RedirectOrderAnswer): Promise<void> =>
      end(row, async () => ({
        creation: 'redirected',
        destination_amount: answer.toAmount,
        redirect_url_sealed: seal(row, 'redirect_url_sealed', answer.redirectUrl),
        last_error: null,
      })),

    /** It came to nothing: no order is there. */
    failed: (row: OrderRow, ended: CreationEnd, fault: string | null): Promise<void> =>
      end(row, async () => ({
        creation: 'failed',
        creation_sealed: sealNote(secrets, row.order_id, { ...noteOf(secrets, row), ended }),
        last_error: fault?.slice(0, 300) ?? null,
      })),
  };
}

/** From here on there is an order: its first line of history, and its customer's link to the partner. */
async function beginOrder(
  ports: PartnerPorts,
  tx: Tx,
  row: OrderRow,
  to: OrderStatus,
  requestId: string,
  atMs: number,
): Promise<void> {
  await recordChange(ports, tx, {
    partnerId: row.partner_id,
    environment: row.environment,
    orderId: row.order_id,
    version: row.version,
    from: null,
    to,
    fields: ['status'],
    actor: 'platform',
    requestId,
    atMs,
  });
  await linkCustomer(tx, row.customer_id, row.partner_id, atMs);
}

async function pageError(ports: PartnerPorts, tx: Tx, row: OrderRow, fault: string): Promise<void> {
  const ids = { order_id: row.order_id, partner_id: row.partner_id };
  ports.log('error', 'partner_order_error', ids);
  await pageOperator(ports, tx, {
    event: 'partner_order_error',
    subject: row.order_id,
    text: `Order ${row.order_id} of partner ${row.partner_id} is in ERROR: ${fault}. Ask the partner whether its platform has it.`,
    fields: ids,
  });
}
