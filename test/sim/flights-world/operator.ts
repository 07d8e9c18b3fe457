import type { HttpResponse } from '../../../src/kernel/http.ts';
import type { World } from '../world/world.ts';
import type { Find } from './people.ts';
import type { Stage } from './stage.ts';

interface Listed {
  readonly bookings: readonly { readonly intent_id: string }[];
  readonly effects: readonly { readonly effect_id: string }[];
  readonly refund_requests: readonly { readonly request_id: string; readonly intent_id: string }[];
}

/** An operator at her desk: looks every so often at what waits for a person, and decides by what the airline says. */
export function createOperator(world: World, stage: Stage, find: Find) {
  const { chance } = world;
  const retried = new Set<string>();

  async function ask(method: 'GET' | 'POST', path: string, body?: object): Promise<Record<string, unknown> | null> {
    const reached = find(`operator ${path}`);
    if (!reached) return null;
    const request = {
      method,
      url: `http://flights.sim/operator${path}`,
      headers: { authorization: `Bearer ${stage.template.operatorKey}`, 'content-type': 'application/json' },
      body: body === undefined ? '' : JSON.stringify(body),
    };
    const answer: HttpResponse | null = await reached.process
      .orGone(reached.serve(request, { clientAddress: '10.9.9.9' }))
      .catch(() => null);
    if (!answer?.body) return null;
    const said = JSON.parse(answer.body) as Record<string, unknown>;
    if (answer.status < 300) return said;
    world.saw(`operator told: ${String(said.code)}`);
    world.tell('operator', `${path.replace(/_\w+/g, '_…')}: ${String(said.code)}`);
    return null;
  }

  /** Who looks after it has asked the airline by telephone, and knows the truth. */
  async function resolve(id: string, kind: string): Promise<void> {
    world.saw(`operator: ${kind} is stuck`);
    if (kind !== 'booking') {
      await ask('POST', `/stuck/${id}/resolve`, { decision: 'retry' });
      return;
    }
    const order = await known(id);
    const decision =
      order === 'open' || (order && ['pending', 'confirmed'].includes(order.status))
        ? 'retry'
        : order?.status === 'ticketed'
          ? 'ticketed'
          : 'not_ticketed';
    const evidence =
      decision === 'ticketed' && order !== 'open' && order
        ? { booking_reference: order.bookingReference, documents: order.documents }
        : {};
    world.tell('operator', `decides that a booking is ${decision}`);
    const done = await ask('POST', `/stuck/${id}/resolve`, { decision, ...evidence });
    // What the record does not allow is tried again from where it stopped.
    if (!done) await ask('POST', `/stuck/${id}/resolve`, { decision: 'retry' });
  }

  /** What is not cancelled by trying again is cancelled by telephone; at once where the site never knew of the ticket. */
  async function resolveRefund(id: string, intentId: string): Promise<void> {
    if (!retried.has(id) && !stage.tills.isOnlyKnownToBank(intentId)) {
      retried.add(id);
      await resolve(id, 'refund');
      return;
    }
    stage.tills.cancel(intentId);
    const done = await ask('POST', `/stuck/${id}/resolve`, { decision: 'cancelled' });
    if (!done) await resolve(id, 'refund');
  }

  /** `open`: somebody is still about to sell it. */
  async function known(id: string): Promise<Awaited<ReturnType<Stage['orderOf']>> | 'open'> {
    const { visits, isPaid } = stage.tills;
    if (stage.pendingOrders.has(id) || (visits.get(id) ?? 0) > 0) return 'open';
    const bought = await stage.carriers.find(id);
    if (bought?.kind === 'payment_pressed_no_confirmation')
      world.saw(`operator: the bank says ${isPaid(id) ? 'paid' : 'not paid'}`);
    return stage.orderOf(id);
  }

  async function decide(requestId: string, intentId: string): Promise<void> {
    if (chance.part(`operator on ${chance.numbered('case')}`) < 0.15) {
      world.saw('operator: rejects');
      await ask('POST', `/refund-requests/${requestId}/reject`, { reason: 'The fare says so.' });
      return;
    }
    const isEnded = stage.changes.get(intentId)?.what === 'cancelled';
    const [intent] = (await stage.query(`select amount from intents where intent_id = '${intentId}'`)) as [
      { amount: number },
    ];
    // Of what the airline has cancelled nothing is kept, without a word of the operator's.
    const amount = isEnded ? intent.amount : 5_000_000 + Math.floor(chance.part('payout') * 5_000_000);
    if (isEnded) world.saw('operator: approves what the airline cancelled');
    // Written down first: the answer may be lost.
    stage.decided.set(requestId, (stage.decided.get(requestId) ?? new Set()).add(amount));
    const done = await ask('POST', `/refund-requests/${requestId}/approve`, {
      ...(!isEnded && { payout_amount: amount }),
      note: 'Good will.',
    });
    if (!done) return;
    world.saw('operator: approves');
    world.tell('operator', `approves ${requestId.slice(0, 8)}…: ${String(done.status)}`);
  }

  return {
    async look(): Promise<void> {
      const stuck = (await ask('GET', '/stuck')) as Listed | null;
      for (const { intent_id: id } of stuck?.bookings ?? []) await resolve(id, 'booking');
      for (const { effect_id: id } of stuck?.effects ?? []) await resolve(id, 'effect');
      for (const { request_id: id, intent_id: intentId } of stuck?.refund_requests ?? []) {
        await resolveRefund(id, intentId);
      }
      const queue = (await ask('GET', '/refund-requests')) as {
        readonly refund_requests: readonly {
          readonly request_id: string;
          readonly intent_id: string;
          readonly status: string;
        }[];
      } | null;
      for (const { request_id: id, intent_id: intentId, status } of queue?.refund_requests ?? []) {
        if (status === 'received' || status === 'claimed') await decide(id, intentId);
      }
    },
  };
}
