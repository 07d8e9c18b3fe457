import type { OrderStatus } from '../../../src/kernel/domain/order-moves.ts';
import type { World } from '../world/world.ts';
import type { Pace, Slug } from './stage.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** An order as its platform has it. */
export interface Held {
  readonly orderId: string;
  readonly slug: Slug;
  readonly externalOrderId: string;
  readonly status: OrderStatus;
  readonly toAmount: string;
  readonly answer: string;
  /** It was answered once in a way that cannot be used. */
  isMisanswered: boolean;
}

interface Asked {
  readonly orderId: string;
  readonly fromAmount: string;
  readonly fromCurrency: string;
  readonly paymentMethod: string;
}

export type Books = ReturnType<typeof createBooks>;

/** What the partners' platforms know: which orders they took and which they refused, each once and for good. */
export function createBooks(world: World, pace: Pace) {
  const { chance } = world;
  const held = new Map<string, Held>();
  const refused = new Set<string>();
  const bodies = new Map<string, string>();
  const outages = new Map<Slug, { readonly fromMs: number; readonly untilMs: number; readonly isMute: boolean }>();
  const beganMs = world.now();
  for (const slug of ['bank', 'pix', 'redirect'] as const) {
    const name = `outage of ${slug}`;
    if (!chance.takesPart(name, 0.3)) continue;
    const fromMs = beganMs + chance.part(`${name} from`) * 10 * MINUTE_MS;
    const lasts = chance.part(`${name} lasts`);
    // Now and then longer than anybody goes on asking.
    const forMs = lasts < 0.12 ? 27 * HOUR_MS : MINUTE_MS + lasts * 30 * MINUTE_MS;
    outages.set(slug, { fromMs, untilMs: fromMs + forMs, isMute: chance.part(`${name} mute`) < 0.6 });
  }
  /** A long outage goes on when the world comes to rest; every other one is over then. */
  const isLong = (slug: Slug) => {
    const outage = outages.get(slug);
    return outage !== undefined && outage.untilMs - outage.fromMs > HOUR_MS;
  };
  return {
    held,
    refused,
    isLong,
    longestOutageEndsMs: () =>
      Math.max(0, ...[...outages].filter(([slug]) => isLong(slug)).map(([, one]) => one.untilMs)),
    outage(slug: Slug): 'mute' | 'busy' | null {
      const outage = outages.get(slug);
      if (!outage || (pace.phase !== 'usual' && !isLong(slug))) return null;
      if (world.now() < outage.fromMs || world.now() >= outage.untilMs) return null;
      return outage.isMute ? 'mute' : 'busy';
    },
    /** The first words about an order; every repetition has to be the same. */
    firstBody(orderId: string, body: string): string {
      const first = bodies.get(orderId) ?? body;
      bodies.set(orderId, first);
      return first;
    },
    /** Takes an order, once: asked again, it is the same one. */
    take(slug: Slug, asked: Asked, sharing: Held | null): Held {
      const known = held.get(asked.orderId);
      if (known) return known;
      const name = chance.numbered(`taken by ${slug}`);
      const drawn = chance.part(`${name} status`);
      const status: OrderStatus =
        drawn < 0.7
          ? 'AWAITING_FUNDS'
          : drawn < 0.8
            ? 'IN_REVIEW'
            : drawn < 0.9
              ? 'FUNDS_RECEIVED'
              : drawn < 0.95
                ? 'PAYMENT_SUBMITTED'
                : 'PAYMENT_PROCESSED';
      const externalOrderId = sharing?.externalOrderId ?? `${slug}-${held.size + 1}`;
      const toAmount = `${10 + Math.floor(chance.part(`${name} amount`) * 90)}.5`;
      const depositInstructions = {
        paymentMethod: asked.paymentMethod,
        amount: asked.fromAmount,
        currency: asked.fromCurrency,
        bankName: 'Sandbank',
        depositMessage: asked.orderId,
      };
      const answer = JSON.stringify({ externalOrderId, status, toAmount, depositInstructions });
      const taken = { orderId: asked.orderId, slug, externalOrderId, status, toAmount, answer, isMisanswered: false };
      held.set(asked.orderId, taken);
      world.saw(`taken as ${status}`);
      return taken;
    },
    ordersOf: (slug: Slug): Held[] => [...held.values()].filter((one) => one.slug === slug),
  };
}
