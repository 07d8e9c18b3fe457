import type { Problem } from '../../../src/kernel/problems.ts';
import { defaultPolicy } from '../../../src/partner/compliance/policy.ts';
import type { CreateOrderRequest, CreateOrderResponse } from '../../../src/wire/partner/index.ts';
import type { World } from '../world/world.ts';
import type { History, Window } from './history.ts';
import { type Came, createPerson, type Find } from './people.ts';
import { type CustomerName, partnerIdOf, type Slug, type Stage } from './stage.ts';
import type { Truth } from './truth.ts';

type Body = CreateOrderRequest;

/** An order that somebody wants, and what became of it. */
export interface Wish {
  readonly who: CustomerName;
  readonly key: string | null;
  readonly body: Body;
  readonly slug: Slug;
  orderId: string | null;
  /** What was said for good. */
  said: 'order' | 'redirect' | 'partner_refused' | 'partner_answer_invalid' | null;
  saidMs: number;
}

const WAYS: Readonly<Record<CustomerName, readonly [Partial<Body>, ...Slug[]]>> = {
  ana: [{ countryCode: 'BRA', fromCurrency: 'BRL', paymentMethod: 'BRA_PIX' }, 'bank', 'pix', 'pix', 'redirect'],
  bo: [{ countryCode: 'DEU', fromCurrency: 'EUR', paymentMethod: 'DEU_SEPA' }, 'bank', 'bank', 'redirect'],
  sam: [{ countryCode: 'USA', fromCurrency: 'USD', paymentMethod: 'USA_ACH' }, 'bank'],
  eva: [{ countryCode: 'MEX', fromCurrency: 'MXN', paymentMethod: 'MEX_SPEI' }, 'bank'],
};
/** Eva's are worth 360 USD each: a third one is more than she is cleared for. */
const AMOUNTS: Readonly<Record<CustomerName, number>> = { ana: 120, bo: 130, sam: 140, eva: 6_000 };

const EVA_GIVES = [
  { name: { firstName: 'Eva', lastName: 'Ejemplo' } },
  { birthDate: { date: '1991-02-03' } },
  { nationality: { country: 'MEX' } },
  { taxId: { country: 'MEX', type: 'CURP', number: 'HEGG560427MVZRRL04' } },
  { bankAccount: { clabe: { accountNumber: '032180000118359719' } } },
  { cryptoWallet: { type: 'SOLANA', address: '6tGK3AjUG8AEbxNEoySYLxVT3NUifm6FZXRBT1xCBmVH' } },
];
const DONE = 'COMPLIANCE_STATUS_SUCCESS';

interface Surroundings {
  readonly find: Find;
  readonly truth: Truth;
  readonly history: History;
}

export type Customer = ReturnType<typeof createCustomer>;

/** Somebody who wants a few orders made, and asks until there is an answer. */
export function createCustomer(world: World, stage: Stage, who: CustomerName, { find, truth, history }: Surroundings) {
  const { chance } = world;
  const { template } = stage;
  const person = createPerson(world, stage, who, find, {
    apiKey: template.apiKeys.bank,
    token: template.tokens.get(who),
  });
  const count = who === 'eva' ? 4 : 1 + Math.floor(chance.part(`${who} wishes`) * 4);
  const wishes = Array.from({ length: count }, (_, n) => wishOf(n));

  function wishOf(n: number): Wish {
    const [way, ...slugs] = WAYS[who];
    const slug = chance.pick(`${who} ${n} partner`, slugs as [Slug, ...Slug[]]);
    const body = {
      ...way,
      partnerId: partnerIdOf(slug),
      rampType: 'ONRAMP',
      toCurrency: 'SOLANA_USDC',
      fromAmount: `${AMOUNTS[who] + n}.1`,
      customerIp: '203.0.113.7',
    } as Body;
    const key = chance.part(`${who} ${n} key`) < 0.9 ? `${who}-${n}` : null;
    if (key !== null) truth.oneOrderFor(key, [body.fromAmount, otherAmount(body)]);
    return { who, key, body, slug, orderId: null, said: null, saidMs: 0 };
  }

  const ask = (wish: Wish, body: Body = wish.body, tries = 8): Promise<Came<CreateOrderResponse>> =>
    person.persist(
      `order ${wish.body.fromAmount}`,
      ({ client }) => client.createOrder(body, wish.key === null ? {} : { idempotencyKey: wish.key }),
      { tries: wish.key === null ? 1 : tries },
    );

  /** Keeps what was said about a wish, and holds it to what was said before. */
  function heard(wish: Wish, came: Came<CreateOrderResponse>): void {
    if (came.kind === 'ok') heardOrder(wish, came, came.value);
    else if (came.kind === 'refused') heardRefusal(wish, came, came.problem);
  }

  function heardOrder(wish: Wish, window: Window, answer: CreateOrderResponse): void {
    const { order } = answer;
    const orderId = order?.id ?? answer.orderId ?? '';
    const said = order ? 'order' : 'redirect';
    world.saw(`a customer is told: ${said}`);
    if (wish.orderId === null) world.tell(who, `has ${said} ${orderId.slice(-6)}`);
    if ((wish.orderId ?? orderId) !== orderId)
      world.violate('one idempotency key, one order', `${wish.key}: ${wish.orderId} and ${orderId}`);
    if (wish.said !== null && wish.said !== said)
      world.violate('what was said for good stays', `${wish.key}: ${wish.said}, then ${said}`);
    wish.orderId = orderId;
    wish.said = said;
    wish.saidMs = window.endMs;
    if (order) history.saw(window, order);
  }

  function heardRefusal(wish: Wish, { firstMs, endMs }: Window, { code }: Problem): void {
    if (code === 'partner_refused' || code === 'partner_answer_invalid') {
      if (wish.said !== null && wish.said !== code)
        world.violate('what was said for good stays', `${wish.key}: ${wish.said}, then ${code}`);
      wish.said = code;
      wish.saidMs = endMs;
      return;
    }
    // Of two at once, one may have come while the operator had doubts or she had ordered too much, the other one after.
    const isOver = () => stage.doubts.had || truth.hasFreed(endMs, wish.saidMs);
    const isFirst = wish.said === null || (wish.saidMs >= firstMs && isOver());
    const isExpected = code === 'compliance_required' ? who === 'eva' && isFirst : code === 'idempotency_key_reused';
    if (!isExpected) world.violate('a refusal has its reason', `${who}, ${wish.key}: ${code}`);
  }

  /** Half of them are asked for in some way that a careful tool would not. */
  async function want(wish: Wish, n: number): Promise<void> {
    await world.sleep(chance.pauseMs(`${who} ${n} begins`, 240_000));
    const manner = chance.part(`${who} ${n} manner`);
    if (wish.key === null || manner < 0.35) heard(wish, await ask(wish));
    else if (manner < 0.6) {
      world.tell(who, `asks twice at once for ${wish.body.fromAmount}`);
      for (const came of await Promise.all([ask(wish), ask(wish)])) heard(wish, came);
    } else if (manner < 0.75) await wantOther(wish);
    else {
      heard(wish, await ask(wish));
      await world.sleep(chance.pauseMs(`${who} ${n} again`, 90_000));
      heard(wish, await ask(wish));
    }
  }

  /** The same key for something else: whoever came first has it. */
  async function wantOther(wish: Wish): Promise<void> {
    heard(wish, await ask(wish, wish.body, 2));
    const hadIt = wish.orderId !== null;
    const other = await ask(wish, { ...wish.body, fromAmount: otherAmount(wish.body) });
    if (other.kind === 'refused' && other.problem.code === 'idempotency_key_reused') {
      world.saw('a key comes with something else');
      return;
    }
    if (hadIt && other.kind === 'ok') world.violate('a key that was used is not for something else', `${wish.key} was`);
    heard(wish, other);
  }

  /** What is asked of her before anybody takes her money. */
  async function becomeKnown(): Promise<void> {
    const early = await ask(wishes[0] as Wish, undefined, 3);
    if (early.kind === 'ok' || (early.kind === 'refused' && early.problem.code === 'partner_refused'))
      world.violate('nobody orders more than compliance allows', 'Eva, of whom nothing is known');
    const standing = async (): Promise<string | null> => {
      const came = await person.persist('looks', ({ client }) => client.requirements(), { tries: 2 });
      if (came.kind !== 'ok') return null;
      world.saw(`compliance: ${came.value.complianceStatus}`);
      return came.value.complianceStatus;
    };
    await standing();
    const submit = (label: string, email: string) =>
      person.persist(label, ({ client }) =>
        client.submitData({ data: [...EVA_GIVES, { email: { value: email } }] }, { idempotencyKey: `eva-${label}` }),
      );
    if (chance.part('eva email') < 0.4) await submit('submits a bad address', 'rejected@example.com');
    await world.sleep(chance.pauseMs('eva between', 30_000));
    await submit('submits', 'eva@example.com');
    const { termsUrl, privacyPolicyUrl } = defaultPolicy.terms;
    await person.persist('accepts', ({ client }) =>
      client.acceptTerms({ termsUrl, privacyPolicyUrl }, { idempotencyKey: 'eva-terms' }),
    );
    for (let look = 1; look <= 12; look++) {
      if ((await standing()) === DONE) return;
      await world.sleep(2_000 + chance.pauseMs(`eva looks ${look}`, 15_000));
    }
  }

  return {
    name: who,
    computer: person.computer,
    wishes: wishes as readonly Wish[],
    async play(): Promise<void> {
      if (who === 'eva') await becomeKnown();
      await Promise.all(wishes.map((wish, n) => want(wish, n)));
    },
    /** Nothing fails any more: there is an answer to everything that was asked under a key. */
    async finish(): Promise<void> {
      for (const wish of wishes) {
        if (wish.key === null || stage.platform.isLong(wish.slug)) continue;
        const came = await ask(wish, wish.body, 60);
        // A refusal settles no order that was perhaps taken before: a person ends it after a day.
        const isInDoubt = [...truth.rows.values()].some(
          (row) => row.source_amount === wish.body.fromAmount && stage.platform.refused.has(row.order_id),
        );
        if (came.kind === 'unknown' && !isInDoubt) world.violate('a customer has an answer in the end', `${wish.key}`);
        heard(wish, came);
      }
    },
  };
}

const otherAmount = ({ fromAmount }: Body): string => `${fromAmount.slice(0, -1)}2`;
