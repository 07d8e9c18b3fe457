import type { PartnerPorts, RunType, Tx } from '../../partner/base/index.ts';
import { addAcceptance, inputKey, loadPolicy, RUN_INPUTS, saveData } from '../../partner/compliance/index.ts';
import type { CustomerData } from '../../partner/customer-data/index.ts';
import { DATA_KEYS, DATA_TYPES } from '../../wire/partner/kinds.ts';
import PEOPLE from './people.json' with { type: 'json' };

/** Makes most demo customers ready to order: attested data and accepted terms. */
export async function seedCustomers(ports: PartnerPorts, tx: Tx): Promise<void> {
  for (const customer of SEEDED_CUSTOMER_DATA) await seedCustomer(ports, tx, customer);
}

async function seedCustomer(
  ports: PartnerPorts,
  tx: Tx,
  { customerId, data }: (typeof SEEDED_CUSTOMER_DATA)[number],
): Promise<void> {
  const nowMs = ports.clock.now();
  const given = data.map(({ dataId, value }) => ({ dataId, type: typeOf(value), value }));
  await saveData(ports, tx, customerId, given, nowMs);
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
  await addAcceptance(ports, tx, customerId, terms, nowMs);
}

function typeOf(value: CustomerData) {
  const type = DATA_TYPES.find((one) => value[DATA_KEYS[one]] !== undefined);
  if (!type) throw new Error('seeded data of no kind');
  return type;
}

/** Invented customers that meet every rule of the shipped policy. */

// A picture of a single pixel.
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=';

const PICTURE_HASH = '63ef318d96b5d0d0ceba6e04a4e622b1158335cdc67c49e27839132c6f655058';

/** As it is stored. */
export const SEEDED_CUSTOMER_DATA = PEOPLE.map((person) => {
  const of = (what: string, value: object) => ({
    dataId: `dat_demo_${person.short}_${what}`,
    value: value as CustomerData,
  });
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
