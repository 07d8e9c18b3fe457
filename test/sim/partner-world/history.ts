import { refusalOf } from '../../../src/kernel/domain/order-moves.ts';
import type { Problem } from '../../../src/kernel/problems.ts';
import type { Order, OrderChange, UpdateOrderRequest } from '../../../src/wire/partner/schema.ts';
import type { World } from '../world/world.ts';
import { standingOf, type Truth, type Version } from './truth.ts';

/** From the first try to the answer that counted. */
export interface Window {
  readonly who: string;
  readonly firstMs: number;
  readonly endMs: number;
}

export interface Update {
  readonly input: UpdateOrderRequest;
  readonly ifMatch: number | null;
}

export type History = ReturnType<typeof createHistory>;

/**
 * Holds what each client was told to what was so. Versions order the writes of an order, so its history is linearizable
 * when each answer shows a version as it was, and one that was the last at some moment between the question and the
 * answer.
 */
export function createHistory(world: World, truth: Truth) {
  const when = ({ firstMs, endMs }: Window) => `between ${firstMs.toFixed(1)} and ${endMs.toFixed(1)}`;

  /** The version that an answer shows. */
  function saw(window: Window, order: Order): Version | null {
    const name = `${window.who} was shown version ${order.version} of ${order.id}`;
    const version = truth.versions(order.id).find(({ picture }) => picture.version === order.version);
    if (!version) {
      world.violate('what was acknowledged is there', `${name}, which is not there`);
      return null;
    }
    const { picture } = version;
    const differs = (
      [
        [order.status, picture.status],
        [order.sourceTransactionId, picture.source_transaction_id],
        [order.destinationTransactionId, picture.destination_transaction_id],
        [order.destinationAmount, picture.destination_amount],
      ] as const
    ).find(([shown, is]) => (shown ?? null) !== is);
    if (differs) world.violate('what is shown is what was so', `${name} with ${differs[0]}: it has ${differs[1]}`);
    if (version.fromMs > window.endMs || version.untilMs < window.firstMs)
      world.violate(
        'the history of an order is linearizable',
        `${name} ${when(window)}; it was the last one from ${version.fromMs} to ${version.untilMs}`,
      );
    return version;
  }

  return {
    saw,

    /** With its history: both of one moment. */
    sawWithHistory(window: Window, order: Order, changes: readonly OrderChange[]): void {
      saw(window, order);
      const last = changes.at(-1);
      if (last?.version !== order.version || last.toStatus !== order.status)
        world.violate(
          'an order and its history are of one moment',
          `${window.who}: ${order.id} is ${order.status} at ${order.version}, its history ${last?.toStatus} at ${last?.version}`,
        );
      const all = truth.versions(order.id);
      changes.forEach((change, place) => {
        const is = all[place]?.picture;
        if (is?.version !== change.version || is.status !== change.toStatus)
          world.violate('a history tells what was so', `${order.id}: ${change.toStatus} at ${change.version}`);
      });
    },

    updated(window: Window, { input, ifMatch }: Update, order: Order): void {
      const version = saw(window, order);
      if (!version) return;
      const name = `${window.who} updated ${input.orderId}`;
      const asked = [
        [input.status, order.status],
        [input.destinationTransactionId, order.destinationTransactionId],
        [input.sourceTransactionId, order.sourceTransactionId],
        [input.toAmount, order.destinationAmount],
      ] as const;
      if (asked.some(([wanted, got]) => wanted !== undefined && wanted !== got))
        world.violate('an update that was acknowledged was made', name);
      const before = truth.versions(order.id).find(({ picture }) => picture.version === order.version - 1);
      const bases = [before, version].filter((one) => one !== undefined);
      if (ifMatch !== null && !bases.some(({ picture }) => picture.version === ifMatch))
        world.violate('If-Match is kept', `${name} from ${ifMatch}, and it became ${order.version}`);
      if (!bases.some(({ picture }) => refusalOf(standingOf(picture), input) === null))
        world.violate('an order moves as the table allows', `${name} to ${input.status}`);
    },

    /** A refusal was right at some moment in between. */
    refused(window: Window, { input, ifMatch }: Update, { code }: Problem): void {
      const alive = truth.alive(input.orderId, window.firstMs, window.endMs);
      const kinds = alive.map(({ picture }) => refusalOf(standingOf(picture), input)?.kind);
      const begins = truth.versions(input.orderId)[0]?.fromMs ?? Number.POSITIVE_INFINITY;
      const isRight =
        code === 'order_version_mismatch'
          ? ifMatch !== null && alive.some(({ picture }) => picture.version !== ifMatch)
          : code === 'invalid_status_transition'
            ? kinds.includes('transition')
            : code === 'transaction_id_fixed'
              ? kinds.includes('fixed')
              : code === 'order_finished'
                ? alive.some(({ picture }) => picture.payment_processed === 1 || picture.status === 'REFUNDED')
                : code === 'invalid_request'
                  ? kinds.includes('required')
                  : code === 'order_not_found'
                    ? begins >= window.firstMs
                    : false;
      if (!isRight)
        world.violate(
          'a refusal has its reason',
          `${window.who}: ${code} for ${JSON.stringify(input)} from ${ifMatch} ${when(window)}`,
        );
    },
  };
}
