import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Failure, openStack, PIX, type Stack } from '../stack.ts';

const DAY_MS = 86_400_000;
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
  'base64',
);
const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

interface Onboarding extends Failure {
  readonly requirements: readonly {
    readonly attestationRequirement?: { readonly terms: { termsUrl: string; privacyPolicyUrl: string } };
    readonly dataRequirement?: {
      readonly type: string;
      readonly data: readonly Record<string, unknown>[];
      readonly config: { readonly network: string } | null;
    };
  }[];
  readonly complianceStatus: string;
}
interface Submitted extends Failure {
  readonly items: readonly { readonly dataId: string; readonly type: string }[];
  readonly complianceStatus: string;
}

const EVERYONE = [
  { name: { firstName: 'Lupe', lastName: 'Ejemplo-Ríos' } },
  { birthDate: { date: '1991-02-03' } },
  { nationality: { country: 'MEX' } },
  { email: { value: 'lupe.ejemplo@example.com' } },
];
const MEXICAN = [...EVERYONE, { taxId: { country: 'MEX', type: 'CURP', number: 'HEGG560427MVZRRL04' } }];

let stack: Stack;
beforeAll(async () => {
  stack = await openStack({ partner: { attestationMs: 2_000 } });
});
afterAll(() => stack.close());

/** A customer that nobody has met yet. */
async function newcomer(country = 'DEU', partnerIds = ['par_sandbox_bank']) {
  const { customer_id: customerId } = await stack.operator<{ customer_id: string }>('customers', {
    country,
    partner_ids: partnerIds,
  });
  let token = await stack.issueToken(customerId, 1440);
  const call = <T>(operation: string, body: unknown, headers: Record<string, string> = {}) =>
    stack.customer<T>(operation, body, { token, headers });
  const person = {
    customerId,
    call,
    async onboarding() {
      const answer = await call<Onboarding>('GetOnboardingRequirements', {});
      expect(answer.status).toBe(200);
      return answer.body;
    },
    /** The status, and what is to be done for it. */
    async stands() {
      const { requirements, complianceStatus } = await person.onboarding();
      return {
        status: complianceStatus.replace('COMPLIANCE_STATUS_', ''),
        todo: requirements.flatMap((one) =>
          one.attestationRequirement
            ? ['TERMS']
            : one.dataRequirement?.data.length === 0
              ? [one.dataRequirement.type]
              : [],
        ),
      };
    },
    submit: (data: unknown) => call<Submitted>('SubmitCustomerData', { data }),
    async acceptAll() {
      for (const { attestationRequirement } of (await person.onboarding()).requirements)
        if (attestationRequirement) await call('AcceptTerms', attestationRequirement.terms);
    },
    /** Time passes; a token lives for a day at most. */
    async later(ms: number) {
      stack.clock.advance(ms);
      token = await stack.issueToken(customerId, 1440);
    },
    async compliant(data: unknown = EVERYONE) {
      expect((await person.submit(data)).body).not.toHaveProperty('code');
      await person.acceptAll();
      await person.later(2_000);
      expect(await person.stands()).toEqual({ status: 'SUCCESS', todo: [] });
      return person;
    },
    require: (asked: Record<string, unknown>) =>
      stack.partner<{ requirementId: string } & Failure>('AddCustomerRequirement', { customerId, ...asked }),
  };
  return person;
}

test('a newcomer gives data, accepts terms, waits for the attestations, and is done', async () => {
  const person = await newcomer('MEX');
  expect(await person.stands()).toEqual({
    status: 'PENDING',
    todo: ['NAME', 'BIRTH_DATE', 'NATIONALITY', 'EMAIL', 'TERMS', 'TAX_ID'],
  });
  const submitted = await person.submit(MEXICAN);
  expect(submitted.body).toMatchObject({
    items: ['NAME', 'BIRTH_DATE', 'NATIONALITY', 'EMAIL', 'TAX_ID'].map((type) => ({
      type,
      dataId: expect.stringMatching(/^dat_/),
    })),
    complianceStatus: 'COMPLIANCE_STATUS_PENDING',
  });
  expect(await person.stands()).toEqual({ status: 'PENDING', todo: ['TERMS'] });
  await person.acceptAll();
  expect(await person.stands()).toEqual({ status: 'PROCESSING', todo: [] });
  await person.later(2_000);
  expect(await person.stands()).toEqual({ status: 'SUCCESS', todo: [] });
});

test('the worker finishes attestations that nobody asks about', async () => {
  const person = await newcomer();
  await person.submit(EVERYONE);
  await person.acceptAll();
  const { nextDueAtMs } = await stack.service.worker.runDue();
  expect(nextDueAtMs).not.toBeNull();
  stack.clock.advance(2_000);
  await stack.service.worker.runDue();
  stack.clock.advance(-1_000_000);
  expect((await person.stands()).status).toBe('SUCCESS');
  stack.clock.advance(1_000_000);
});

describe('AddCustomerRequirement', () => {
  test('asks for what the policy does not, and the customer is pending again', async () => {
    const person = await (await newcomer()).compliant();
    const added = await person.require({ data: 'PHONE' });
    expect(added.body.requirementId).toMatch(/^rqm_/);
    expect(await person.stands()).toEqual({ status: 'PENDING', todo: ['PHONE'] });
    await person.submit([{ phone: { countryCode: 'DE', number: '0151 23456789' } }]);
    expect(await person.stands()).toEqual({ status: 'SUCCESS', todo: [] });
  });

  test('the same asked again is the same requirement, another age is another', async () => {
    const person = await newcomer();
    const ask = async (asked: object) => (await person.require({ ...asked })).body.requirementId;
    const first = await ask({ data: 'PHONE', maxAgeDays: 30 });
    expect(await ask({ data: 'PHONE', maxAgeDays: 30 })).toBe(first);
    expect(await ask({ data: 'PHONE', maxAgeDays: '30' })).toBe(first);
    expect(await ask({ data: 'PHONE', maxAgeDays: 31 })).not.toBe(first);
    expect(await ask({ data: 'PHONE' })).not.toBe(first);
  });

  test('an attestation asks for the data that it looks at', async () => {
    const person = await (await newcomer()).compliant();
    await person.require({ attestation: 'VALIDATED_PHONE' });
    expect(await person.stands()).toEqual({ status: 'PENDING', todo: ['PHONE'] });
    await person.submit([{ phone: { countryCode: '+49', number: '15123456789' } }]);
    expect(await person.stands()).toEqual({ status: 'PROCESSING', todo: [] });
  });

  test('an attestation of data that is there begins at once', async () => {
    const person = await (await newcomer()).compliant([
      ...EVERYONE,
      { cryptoWallet: { type: 'ETHEREUM', address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' } },
    ]);
    await person.require({ attestation: 'VALIDATED_CRYPTO_WALLET' });
    expect((await person.stands()).status).toBe('PROCESSING');
    await person.later(2_000);
    expect((await person.stands()).status).toBe('SUCCESS');
  });

  test('terms that a partner asks for are its own', async () => {
    const person = await (await newcomer()).compliant();
    await person.require({ attestation: 'TERMS' });
    const { requirements, complianceStatus } = await person.onboarding();
    expect(complianceStatus).toBe('COMPLIANCE_STATUS_PENDING');
    expect(requirements.flatMap((one) => one.attestationRequirement ?? [])).toEqual([
      { terms: { termsUrl: expect.stringContaining('par-sandbox-bank'), privacyPolicyUrl: expect.any(String) } },
    ]);
    await person.acceptAll();
    expect((await person.stands()).status).toBe('SUCCESS');
  });

  test.each([
    ['neither data nor attestation', {}, 'data'],
    ['both', { data: 'NAME', attestation: 'TERMS' }, 'data'],
    ['an age of no days', { data: 'NAME', maxAgeDays: 0 }, 'maxAgeDays'],
    ['a negative age', { data: 'NAME', maxAgeDays: -1 }, 'maxAgeDays'],
    ['half a day', { data: 'NAME', maxAgeDays: 1.5 }, 'maxAgeDays'],
    ['more than ten years', { data: 'NAME', maxAgeDays: 3_651 }, 'maxAgeDays'],
    ['an unknown kind', { data: 'SHOE_SIZE' }, 'data'],
    ['an unknown attestation', { attestation: 'VIBES' }, 'attestation'],
    ['an unknown field', { data: 'NAME', network: 'TRON' }, 'network'],
  ])('%s is refused, naming the field', async (_what, asked, path) => {
    const person = await newcomer();
    const { status, body } = await person.require(asked);
    expect(status).toBe(400);
    expect(body.code).toBe('invalid_argument');
    expect(body.detail?.issues?.map((issue) => issue.path)).toContain(path);
  });

  test("another partner's customer is not found, as one that nobody has", async () => {
    const person = await newcomer('DEU', [PIX]);
    const foreign = await person.require({ data: 'NAME' });
    const unknown = await stack.partner<Failure>('AddCustomerRequirement', { customerId: 'cus_nobody', data: 'NAME' });
    expect(foreign.status).toBe(404);
    expect(foreign.body).toEqual(unknown.body);
    expect(foreign.body.code).toBe('not_found');
  });
});

describe('what is given grows old', () => {
  test('data older than maxAgeDays is asked for again, and the same value makes it young', async () => {
    const person = await (await newcomer()).compliant();
    await person.require({ data: 'EMAIL', maxAgeDays: 10 });
    expect((await person.stands()).status).toBe('SUCCESS');
    await person.later(11 * DAY_MS);
    expect(await person.stands()).toEqual({ status: 'PENDING', todo: ['EMAIL'] });
    await person.submit([{ email: { value: 'lupe.ejemplo@example.com' } }]);
    expect(await person.stands()).toEqual({ status: 'SUCCESS', todo: [] });
  });

  test('an attestation that is too old is made again from the data that is there', async () => {
    const person = await (await newcomer()).compliant();
    await person.later(366 * DAY_MS);
    expect((await person.stands()).status).toBe('PROCESSING');
    await person.later(2_000);
    expect((await person.stands()).status).toBe('SUCCESS');
  });

  test('an identity document that has expired is asked for again', async () => {
    const person = await (await newcomer()).compliant();
    await person.require({ data: 'ID_DOCUMENT' });
    const document = (expiryDate: string) => ({
      idDocument: {
        documentType: 'PASSPORT',
        documentNumber: 'FX123456',
        issuingCountry: 'MEX',
        expiryDate,
        frontSideImage: PNG.toString('base64'),
        frontSideImageHash: hash(PNG),
      },
    });
    const inDays = (days: number) => new Date(stack.clock.now() + days * DAY_MS).toISOString().slice(0, 10);
    await person.submit([document(inDays(20))]);
    expect((await person.stands()).status).toBe('SUCCESS');
    await person.later(21 * DAY_MS);
    expect(await person.stands()).toEqual({ status: 'PENDING', todo: ['ID_DOCUMENT'] });
    await person.submit([document(inDays(900))]);
    expect((await person.stands()).status).toBe('SUCCESS');
  });
});

describe('a rejection', () => {
  const rejectable: readonly [string, string, object, object][] = [
    ['VALIDATED_EMAIL', 'EMAIL', { email: { value: 'rejected@example.com' } }, { email: { value: 'ok@example.com' } }],
    [
      'VALIDATED_PHONE',
      'PHONE',
      { phone: { countryCode: '+49', number: '15123456000' } },
      { phone: { countryCode: '+49', number: '15123456001' } },
    ],
    ['LIVENESS_CHECK', 'SELFIE', selfie(Buffer.concat([PNG, Buffer.from('REJECTED')])), selfie(PNG)],
    [
      'VALIDATED_CRYPTO_WALLET',
      'CRYPTO_WALLET',
      { cryptoWallet: { type: 'ETHEREUM', address: '0x000000000000000000000000000000000000dEaD' } },
      { cryptoWallet: { type: 'ETHEREUM', address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' } },
    ],
  ];
  test.each(rejectable)(
    '%s of a documented value ends rejected, asks again, and other data opens it',
    async (attestation, type, wrong, right) => {
      const person = await (await newcomer()).compliant();
      await person.require({ attestation });
      await person.submit([wrong]);
      expect((await person.stands()).status).toBe('PROCESSING');
      await person.later(2_000);
      expect(await person.stands()).toEqual({ status: 'REJECTED', todo: [type] });
      await person.submit([wrong]);
      expect(await person.stands()).toEqual({ status: 'REJECTED', todo: [type] });
      await person.submit([right]);
      expect((await person.stands()).status).toBe('PROCESSING');
      await person.later(2_000);
      expect(await person.stands()).toEqual({ status: 'SUCCESS', todo: [] });
    },
  );

  test.each([
    ['SOLANA', '1nc1nerator11111111111111111111111111111111'],
    ['BITCOIN', '1BitcoinEaterAddressDontSendf59kuE'],
  ])('an address on %s that nobody holds is rejected', async (type, address) => {
    const person = await (await newcomer()).compliant();
    await person.require({ attestation: 'VALIDATED_CRYPTO_WALLET' });
    expect((await person.submit([{ cryptoWallet: { type, address } }])).status).toBe(200);
    await person.later(2_000);
    expect((await person.stands()).status).toBe('REJECTED');
  });

  test('a document with a number that ends in four zeros is rejected', async () => {
    const person = await (await newcomer()).compliant();
    await person.require({ attestation: 'VALIDATED_ID_DOCUMENT' });
    await person.submit([
      {
        idDocument: {
          documentType: 'ID_CARD',
          documentNumber: 'AB0000',
          issuingCountry: 'DEU',
          frontSideImage: PNG.toString('base64url'),
          frontSideImageHash: hash(PNG),
        },
      },
    ]);
    await person.later(2_000);
    expect(await person.stands()).toEqual({ status: 'REJECTED', todo: ['ID_DOCUMENT'] });
  });

  test('by the sanctions list is final: another name does not open it', async () => {
    const person = await newcomer();
    await person.submit([...EVERYONE, { name: { firstName: 'Any', lastName: 'Sanctioned' } }]);
    await person.acceptAll();
    await person.later(2_000);
    expect(await person.stands()).toEqual({ status: 'REJECTED', todo: [] });
    await person.submit([EVERYONE[0]]);
    await person.later(2_000);
    expect(await person.stands()).toEqual({ status: 'REJECTED', todo: [] });
  });

  test("is a person's to overrule, who sees the data and is on record for it", async () => {
    const person = await newcomer();
    await person.submit([...EVERYONE, { name: { firstName: 'Any', lastName: 'Sanctioned' } }]);
    await person.acceptAll();
    await person.later(2_000);
    expect((await person.stands()).status).toBe('REJECTED');
    const { attestations } = await stack.operator<{
      attestations: { attestation_id: string; customer_id: string; type: string; state: string }[];
    }>('attestations');
    const [aml] = attestations.filter((one) => one.customer_id === person.customerId);
    expect(aml).toMatchObject({ type: 'AML_CHECK', state: 'rejected', decided_by: 'sandbox' });
    const path = `attestations/${aml?.attestation_id}`;
    expect(await stack.operator(path)).toMatchObject({
      data: expect.arrayContaining([{ name: { firstName: 'Any', lastName: 'Sanctioned' } }]),
    });
    await stack.operator(`${path}/decide`, { verdict: 'passed' });
    expect((await person.stands()).status).toBe('SUCCESS');
    await stack.operator(`${path}/decide`, { verdict: 'rejected' });
    expect((await person.stands()).status).toBe('REJECTED');
    await expect(stack.operator('attestations/att_nobody')).rejects.toThrow(/404/);
    await expect(stack.operator(`${path}/decide`, { verdict: 'maybe' })).rejects.toThrow(/400/);
    const anonymous = await stack.call(`/operator/${path}`, undefined, { method: 'GET' });
    expect(anonymous.status).toBe(401);
  });

  test('other data that is sent while it runs does not take its place', async () => {
    const person = await newcomer();
    await person.submit([...EVERYONE, { name: { firstName: 'Any', lastName: 'Sanctioned' } }]);
    await person.submit([EVERYONE[0]]);
    await person.acceptAll();
    await person.later(2_000);
    expect((await person.stands()).status).toBe('REJECTED');
  });

  test('trying values until one passes is slowed down', async () => {
    const person = await (await newcomer()).compliant();
    for (let tried = 0; tried < 5; tried++) {
      expect((await person.submit([{ email: { value: `rejected+${tried}@example.com` } }])).status).toBe(200);
      await person.later(2_000);
      expect((await person.stands()).status).toBe('REJECTED');
    }
    const slowed = await person.submit([{ email: { value: 'fine@example.com' } }]);
    expect([slowed.status, slowed.body.code]).toEqual([429, 'resource_exhausted']);
    expect(Number(slowed.headers.get('retry-after'))).toBeGreaterThan(80_000);
    await person.later(DAY_MS);
    await person.submit([{ email: { value: 'fine@example.com' } }]);
    await person.later(2_000);
    expect((await person.stands()).status).toBe('SUCCESS');
  });
});

describe('AcceptTerms', () => {
  test('is for the very pages that are asked for', async () => {
    const person = await newcomer();
    const other = await person.call<Failure>('AcceptTerms', { termsUrl: 'https://farelock.example/terms/2019' });
    expect([other.status, other.body.code, other.body.detail?.reason]).toEqual([409, 'aborted', 'terms_changed']);
    expect((await person.stands()).todo).toContain('TERMS');
    const none = await person.call<Failure>('AcceptTerms', {});
    expect([none.status, none.body.detail?.issues?.[0]?.path]).toEqual([400, 'termsUrl']);
  });

  test('twice is once', async () => {
    const person = await newcomer();
    const terms = (await person.onboarding()).requirements.flatMap((one) => one.attestationRequirement?.terms ?? [])[0];
    const [first, second] = [await person.call('AcceptTerms', terms), await person.call('AcceptTerms', terms)];
    expect([first.status, second.status]).toEqual([200, 200]);
    expect((await person.stands()).todo).not.toContain('TERMS');
  });
});

describe('what is shown of what was given', () => {
  test('is masked, without files, and nothing of it is in any answer', async () => {
    const person = await newcomer();
    await person.require({ data: 'SELFIE' });
    await person.require({ data: 'BANK_ACCOUNT' });
    await person.require({ data: 'PHONE' });
    const answers = [
      await person.submit([
        ...EVERYONE,
        selfie(PNG),
        { phone: { countryCode: '+49', number: '15123456789' } },
        { bankAccount: { iban: { accountNumber: 'DE89370400440532013000', country: 'DEU', bic: 'COBADEFFXXX' } } },
      ]),
      await person.call<Onboarding>('GetOnboardingRequirements', {}),
    ];
    const shown = Object.assign(
      {},
      ...(await person.onboarding()).requirements.flatMap((one) => one.dataRequirement?.data ?? []),
    );
    expect(shown).toEqual({
      name: { firstName: 'L***', lastName: 'E***' },
      birthDate: { date: '1991-**-**' },
      nationality: { country: 'MEX' },
      email: { value: 'l***@example.com' },
      phone: { countryCode: '+49', number: '***789' },
      bankAccount: { iban: { accountNumber: '***3000', country: 'DEU', bic: 'C***' } },
    });
    for (const secret of [
      'Ejemplo',
      'Lupe',
      'lupe',
      '1991-02-03',
      '15123456789',
      'DE8937',
      PNG.toString('base64'),
      hash(PNG),
    ])
      for (const { body } of answers) expect(JSON.stringify(body)).not.toContain(secret);
  });

  test('several wallets are shown side by side', async () => {
    const person = await newcomer();
    await person.require({ data: 'CRYPTO_WALLET' });
    await person.submit([
      { cryptoWallet: { type: 'ETHEREUM', address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' } },
      { cryptoWallet: { type: 'SOLANA', address: '1nc1nerator11111111111111111111111111111111' } },
    ]);
    const wallets = (await person.onboarding()).requirements.find(
      (one) => one.dataRequirement?.type === 'CRYPTO_WALLET',
    );
    expect(wallets?.dataRequirement?.data).toEqual([
      { cryptoWallet: { address: '***1111', type: 'SOLANA' } },
      { cryptoWallet: { address: '***eAed', type: 'ETHEREUM' } },
    ]);
  });

  test('a partner sees none of it, whatever it asks', async () => {
    const person = await newcomer();
    await person.submit(EVERYONE);
    const answer = await person.require({ data: 'NAME' });
    expect(Object.keys(answer.body)).toEqual(['requirementId']);
  });
});

describe('SubmitCustomerData', () => {
  test('takes all of it or nothing, and names every field that is wrong', async () => {
    const person = await newcomer();
    const { status, body } = await person.submit([
      { name: { firstName: 'Lupe', lastName: 'Ejemplo' } },
      { bankAccount: { iban: { accountNumber: 'DE89370400440532013001', country: 'DEU' } } },
      { email: { value: 'nobody' } },
      { shoeSize: 43 },
      {},
    ]);
    expect([status, body.code]).toEqual([400, 'invalid_argument']);
    const paths = body.detail?.issues?.map((issue) => issue.path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'data.1.bankAccount.iban.accountNumber',
        'data.2.email.value',
        'data.3.shoeSize',
        'data.4',
      ]),
    );
    expect(JSON.stringify(body)).not.toContain('DE8937');
    expect((await person.stands()).todo).toContain('NAME');
  });

  test.each([
    ['nothing', [], 'data'],
    ['no list', 'x', 'data'],
    ['a number in it', [7], 'data.0'],
    ['more than twenty', Array.from({ length: 21 }, () => EVERYONE[0]), 'data'],
  ])('%s is refused', async (_what, data, path) => {
    const person = await newcomer();
    const { status, body } = await person.submit(data);
    expect([status, body.detail?.issues?.[0]?.path]).toEqual([400, path]);
  });

  test('the same value is the same data, and an Idempotency-Key replays the first answer', async () => {
    const person = await newcomer();
    const ids = async () => (await person.submit(EVERYONE)).body.items.map(({ dataId }) => dataId);
    expect(await ids()).toEqual(await ids());
    const key = { 'idempotency-key': 'once' };
    const first = await person.call('SubmitCustomerData', { data: [EVERYONE[0]] }, key);
    expect(await person.call('SubmitCustomerData', { data: [EVERYONE[0]] }, key)).toMatchObject({ body: first.body });
    const other = await person.call<Failure>('SubmitCustomerData', { data: [EVERYONE[1]] }, key);
    expect(other.body.detail?.reason).toBe('idempotency_key_reused');
  });
});

describe('CreateOrder', () => {
  const ORDER = {
    partnerId: 'par_sandbox_bank',
    countryCode: 'DEU',
    rampType: 'ONRAMP',
    fromCurrency: 'EUR',
    toCurrency: 'SOLANA_USDC',
    fromAmount: '250',
    paymentMethod: 'DEU_SEPA',
  };
  const BANK_ACCOUNT = { bankAccount: { iban: { accountNumber: 'DE89370400440532013000', country: 'DEU' } } };
  const wallet = (type: string, address: string) => ({ cryptoWallet: { type, address } });
  const SOLANA = wallet('SOLANA', 'BAaqwgRSAmcEiJiJM4Mo2ZZUwaD9P7RqNhhbNuyficj9');

  test('is refused until the customer is known, and the customer is told what a larger one takes', async () => {
    const person = await newcomer();
    await person.submit([BANK_ACCOUNT, SOLANA]);
    const refused = await person.call<Failure>('CreateOrder', ORDER);
    expect([refused.status, refused.body.code]).toEqual([400, 'failed_precondition']);
    expect(refused.body.detail).toMatchObject({
      reason: 'compliance_required',
      complianceStatus: 'COMPLIANCE_STATUS_PENDING',
      outstanding: expect.arrayContaining([{ data: 'NAME', state: 'missing' }]),
    });
    await person.compliant();
    const larger = await person.call<Failure>('CreateOrder', { ...ORDER, fromAmount: '2500' });
    expect(larger.body.detail?.reason).toBe('compliance_required');
    expect(await person.stands()).toMatchObject({
      status: 'PENDING',
      todo: ['PHONE', 'RESIDENTIAL_ADDRESS', 'ID_DOCUMENT', 'SELFIE'],
    });
    const taken = await person.call<{ order: { status: string } }>('CreateOrder', ORDER);
    expect(taken.body).toMatchObject({ order: { status: 'AWAITING_FUNDS' } });
  });

  test('to a wallet on another network is refused, naming it', async () => {
    const person = await newcomer();
    const given = await person.submit([
      BANK_ACCOUNT,
      SOLANA,
      wallet('ETHEREUM', '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'),
    ]);
    const { status, body } = await person.call<Failure>('CreateOrder', {
      ...ORDER,
      customerWalletDataId: given.body.items[2]?.dataId,
    });
    expect([status, body.detail?.issues]).toEqual([
      400,
      [{ path: 'customerWalletDataId', message: 'is not a crypto wallet on SOLANA of this customer.' }],
    ]);
  });
});

test('nothing that a customer gives is on the disk in clear', async () => {
  const person = await newcomer();
  await person.submit([...EVERYONE, selfie(PNG)]);
  await stack.service.worker.runDue();
  const files = readdirSync(stack.home).filter((file) => file.startsWith('service.db'));
  expect(files.length).toBeGreaterThan(0);
  const disk = Buffer.concat(files.map((file) => readFileSync(join(stack.home, file)))).toString('latin1');
  for (const secret of ['lupe.ejemplo', 'Ejemplo-R', '1991-02-03', PNG.toString('base64').slice(0, 40), hash(PNG)])
    expect(disk).not.toContain(secret);
});

function selfie(image: Buffer): object {
  return { selfie: { image: image.toString('base64'), imageHash: hash(image) } };
}
