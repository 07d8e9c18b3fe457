import type { PartnerPorts, RunType, Tx } from '../../partner/base/index.ts';
import { addAcceptance, createSubmissions, inputKey, loadPolicy, RUN_INPUTS } from '../../partner/compliance/index.ts';
import type { CustomerData } from '../../partner/customer-data/index.ts';
import { DATA_KEYS, DATA_TYPES } from '../../wire/partner/kinds.ts';

/**
 * Makes most of the demo's customers ready to order: their data is in, attested, and the terms are accepted. Who else
 * is in the demo starts from nothing.
 */
export async function seedCustomers(ports: PartnerPorts, tx: Tx): Promise<void> {
  for (const customer of SEEDED_CUSTOMER_DATA) await seedCustomer(ports, tx, customer);
}

async function seedCustomer(ports: PartnerPorts, tx: Tx, { customerId, data }: SeededCustomerData): Promise<void> {
  const nowMs = ports.clock.now();
  const given = data.map(({ dataId, value }) => ({ dataId, type: typeOf(value), value }));
  await createSubmissions(ports).save(tx, customerId, given, nowMs);
  const idOf = (type: string) => given.find((one) => one.type === type)?.dataId ?? '';
  const runs = Object.keys(RUN_INPUTS) as RunType[];
  await tx
    .insertInto('attestation_runs')
    .values(
      runs.map((type, index) => ({
        attestation_id: ports.ids.next('att'),
        customer_id: customerId,
        type,
        input_key: inputKey(RUN_INPUTS[type].map(idOf)),
        rank: index + 1,
        state: 'passed' as const,
        live_key: null,
        due_at_ms: nowMs,
        lease_until_ms: 0,
        attempts: 0,
        started_at_ms: nowMs,
        finished_at_ms: nowMs,
        decided_by: 'seed',
      })),
    )
    .execute();
  const { terms } = loadPolicy(ports.options.compliancePolicyFile);
  await addAcceptance(tx, { acceptanceId: ports.ids.next('att'), customerId, terms, atMs: nowMs });
}

function typeOf(value: CustomerData) {
  const type = DATA_TYPES.find((one) => value[DATA_KEYS[one]] !== undefined);
  if (!type) throw new Error('seeded data of no kind');
  return type;
}

/** The demo's customers who have met every rule of the shipped policy already. Nobody of them exists. */

// A picture of one pixel.
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

const PICTURE_HASH = '63ef318d96b5d0d0ceba6e04a4e622b1158335cdc67c49e27839132c6f655058';

interface SeededCustomerData {
  readonly customerId: string;
  readonly data: readonly { readonly dataId: string; readonly value: CustomerData }[];
}

interface Person {
  readonly customerId: string;
  /** Ids of the data are `dat_demo_<short>_<what>`. */
  readonly short: string;
  readonly country: string;
  readonly name: { readonly firstName: string; readonly lastName: string };
  readonly birthDate: string;
  readonly phone: { readonly countryCode: string; readonly number: string };
  readonly home: NonNullable<CustomerData['residentialAddress']>;
  readonly documentNumber: string;
  readonly taxId: NonNullable<CustomerData['taxId']>;
  readonly bank: NonNullable<CustomerData['bankAccount']>;
  readonly wallet: string;
}

const PEOPLE: readonly Person[] = [
  {
    customerId: 'cus_demo_ana',
    short: 'ana',
    country: 'BRA',
    name: { firstName: 'Ana', lastName: 'Exemplo' },
    birthDate: '1990-04-12',
    phone: { countryCode: '+55', number: '11961234567' },
    home: { streetLine1: 'Rua do Exemplo 1', city: 'São Paulo', postalCode: '01001-000', country: 'BRA' },
    documentNumber: 'FX100001',
    taxId: { country: 'BRA', type: 'CPF', number: '52998224725' },
    bank: { pix: { pixKey: 'ana@example.com' } },
    wallet: 'AAtNgZqaZuKF7kYMyRTxFFSPoy53aZRe4uibujp4Jgfo',
  },
  {
    customerId: 'cus_demo_bo',
    short: 'bo',
    country: 'DEU',
    name: { firstName: 'Bo', lastName: 'Beispiel' },
    birthDate: '1985-09-30',
    phone: { countryCode: '+49', number: '15123456789' },
    home: { streetLine1: 'Beispielweg 2', city: 'Berlin', postalCode: '10115', country: 'DEU' },
    documentNumber: 'C01X00T41',
    taxId: { country: 'DEU', type: 'STEUER_ID', number: '86095742719' },
    bank: { iban: { accountNumber: 'DE89370400440532013000', country: 'DEU', bic: 'COBADEFFXXX' } },
    wallet: 'BAaqwgRSAmcEiJiJM4Mo2ZZUwaD9P7RqNhhbNuyficj9',
  },
  {
    customerId: 'cus_demo_sam',
    short: 'sam',
    country: 'USA',
    name: { firstName: 'Sam', lastName: 'Sample' },
    birthDate: '1979-01-05',
    phone: { countryCode: '+1', number: '2025550143' },
    home: {
      streetLine1: '3 Sample Street',
      city: 'Springfield',
      postalCode: '62701',
      country: 'USA',
      subdivision: 'US-IL',
    },
    documentNumber: 'X12345671',
    taxId: { country: 'USA', type: 'SSN', number: '536228726' },
    bank: { ach: { accountNumber: '000123456789', routingNumber: '011000015' } },
    wallet: '6tGK3AjUG8AEbxNEoySYLxVT3NUifm6FZXRBT1xCBmVH',
  },
];

/** In the form that data is kept in; the last day of a document is far ahead. */
export const SEEDED_CUSTOMER_DATA: readonly SeededCustomerData[] = PEOPLE.map((person) => {
  const of = (what: string, value: CustomerData) => ({ dataId: `dat_demo_${person.short}_${what}`, value });
  return {
    customerId: person.customerId,
    data: [
      of('name', { name: person.name }),
      of('birth', { birthDate: { date: person.birthDate } }),
      of('nationality', { nationality: { country: person.country } }),
      of('email', { email: { value: `${person.short}@example.com` } }),
      of('phone', { phone: person.phone }),
      of('home', { residentialAddress: person.home }),
      of('tax', { taxId: person.taxId }),
      of('document', {
        idDocument: {
          documentType: 'PASSPORT',
          documentNumber: person.documentNumber,
          issuingCountry: person.country,
          expiryDate: '2099-12-31',
          frontSideImage: PICTURE,
          frontSideImageHash: PICTURE_HASH,
        },
      }),
      of('selfie', { selfie: { image: PICTURE, imageHash: PICTURE_HASH } }),
      of('funds', { sourceOfFunds: { type: 'EMPLOYMENT_SALARY' } }),
      of('occupation', { occupation: { jobTitle: 'Tester', companyName: 'Farelock Demo' } }),
      of('purpose', { accountPurpose: { type: 'PAYMENTS' } }),
      of('payments', { expectedMonthlyPayments: { category: 'USD_1K_10K' } }),
      of('proof', { proofOfAddress: { file: PICTURE, fileHash: PICTURE_HASH, country: person.country } }),
      of('bank', { bankAccount: person.bank }),
      of('wallet', { cryptoWallet: { address: person.wallet, type: 'SOLANA' } }),
    ],
  };
});
