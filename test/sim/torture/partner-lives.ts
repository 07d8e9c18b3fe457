import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Life } from './life.ts';
import type { Place } from './places.ts';

/** Partners, their customers, and who looks after them. */

interface Order {
  readonly id: string;
  readonly status: string;
  readonly version: number;
}
interface Shown {
  readonly order: Order;
  readonly history: readonly { readonly version: number; readonly toStatus: string }[];
}

const BANK = 'par_sandbox_bank';
/** The platform answers as it should, breaks off, or takes it and answers 502, or refuses once. */
const ANSWERS = ['0000', '0000', '0003', '5021', '5031'];

/** Over HTTP a tool acts for a customer with a token. */
async function acting(life: Life, customer: string): Promise<string[]> {
  if (life.place.victim === 'tool and services in one process') return ['--customer', customer];
  const { token } = await life.run<{ token: string }>('operator', ['keys', 'token', customer]);
  life.place.set('partner', { FARELOCK_CUSTOMER_TOKEN: token });
  return [];
}

/** Over HTTP a partner has a key of its own. */
export async function keyed(place: Place): Promise<void> {
  if (place.victim === 'tool and services in one process') return;
  const issued = await place.run('operator', ['keys', 'partner', 'issue', BANK, 'torture']);
  const { key } = issued.json<{ key?: string }>();
  if (key === undefined) throw new Error(`no key: ${issued.stdout}${issued.stderr}`);
  place.set('partner', { FARELOCK_API_KEY: key });
}

async function shown(life: Life, id: string): Promise<Shown> {
  return life.run<Shown>('partner', ['partner', 'orders', 'show', id, '--history']);
}

/** Makes an order with the same key until it is there, by an outbound call to the platform. */
async function ordered(life: Life, part: number): Promise<string> {
  const answer = ANSWERS[Math.floor(life.chance() * ANSWERS.length)] ?? '0000';
  // .0024 stays as it is: nobody else moves it.
  const amount = `${100 + life.number * 10 + part}.${part === 0 ? answer : '0024'}`;
  const exchange = ['--country', 'DEU', '--ramp', 'onramp', '--from', 'EUR', '--to', 'SOLANA_USDC'];
  const made = await life.step<Order>('partner', [
    ...['partner', 'orders', 'create', BANK, ...exchange, '--amount', amount, '--method', 'DEU_SEPA'],
    ...['--idempotency-key', `life-${life.number}-${part}`, ...(await acting(life, 'cus_demo_bo'))],
  ]);
  life.expect(/^rmp_/.test(made.id), `no order: ${JSON.stringify(made)}`);
  return made.id;
}

/** Makes orders, moves one, and applies a file to the others. */
export async function orders(life: Life): Promise<void> {
  await ordered(life, 0);
  const [moved, ...others] = [await ordered(life, 1), await ordered(life, 2), await ordered(life, 3)];
  const update = ['partner', 'orders', 'update', moved ?? '', '--status', 'funds-received'];
  await life.step('partner', update, { ends: ['invalid_status_transition'] });
  const file = join(life.place.papers, `updates-${life.number}.csv`);
  const rows = ['FUNDS_RECEIVED', 'PAYMENT_SUBMITTED'].flatMap((status) => others.map((id) => `${id},${status}`));
  writeFileSync(file, `order_id,status\n${rows.join('\n')}\n`);
  await life.step('partner', ['partner', 'orders', 'apply', file]);
  const ends: readonly (readonly [string | undefined, number])[] = [
    [moved, 2],
    ...others.map((id) => [id, 3] as const),
  ];
  for (const [id, changes] of ends) {
    const { history } = await shown(life, id ?? '');
    const versions = history.map(({ version }) => version);
    life.expect(
      history.length === changes && versions.every((version, index) => version === index + 1),
      `${id}: ${JSON.stringify(history)}`,
    );
  }
}

/** A partner asks for more, a customer gives it and accepts the terms, an operator attests. */
export async function compliance(life: Life): Promise<void> {
  const customer = life.number % 2 === 0 ? 'cus_demo_ana' : 'cus_demo_bo';
  const who = await acting(life, customer);
  const types = ['AML_CHECK', 'LIVENESS_CHECK', 'VALIDATED_EMAIL'];
  const type = types[life.number % types.length] ?? '';
  await life.step('partner', ['partner', 'requirements', 'add', customer, '--attestation', type]);
  const file = join(life.place.papers, `data-${life.number}.json`);
  const email = `ana.${life.number}@example.com`;
  const birthDate = `19${String(10 + (life.number % 80))}-02-03`;
  writeFileSync(
    file,
    JSON.stringify({
      data: [
        { email: { value: email } },
        { name: { firstName: `Ana${'x'.repeat(life.number % 20)}`, lastName: 'Moreira' } },
        { birthDate: { date: birthDate } },
        { nationality: { country: 'DEU' } },
      ],
    }),
  );
  await life.step('partner', ['requirements', 'submit', file, ...who]);
  await life.step('partner', ['requirements', 'accept-terms', '--yes', ...who]);
  interface Attestation {
    readonly attestation_id: string;
    readonly state: string;
  }
  const waiting = async () => {
    const listed = await life.run<{ attestations: Attestation[] }>('operator', ['attestations', 'list']);
    return listed.attestations.filter(({ state }) => state === 'running');
  };
  for (const { attestation_id: id } of (await waiting()).slice(0, 2)) {
    const verdict = life.chance() < 0.7 ? 'passed' : 'rejected';
    await life.step('operator', ['attestations', 'decide', id, verdict, '--yes']);
    const { state } = await life.run<Attestation>('operator', ['attestations', 'show', id]);
    life.expect(state === verdict, `${id}: decided ${verdict}, and ${state}`);
  }
}
