import type { Attest, RunType } from '../partner/base/index.ts';
import type { CustomerData } from '../partner/customer-data/index.ts';

/** The last bytes of a selfie that shows no person. */
const MARK = Buffer.from('REJECTED');

/** Addresses without an owner, which burn money. */
const BURNT: ReadonlySet<string> = new Set([
  '0x000000000000000000000000000000000000dead',
  '1nc1nerator11111111111111111111111111111111',
  '1BitcoinEaterAddressDontSendf59kuE',
]);

/** Values to reject (docs/compliance.md); others pass. */
const REJECTED: Readonly<Record<RunType, (data: CustomerData) => boolean>> = {
  VALIDATED_EMAIL: ({ email }) => /^rejected(\+|@)/i.test(email?.value ?? ''),
  VALIDATED_PHONE: ({ phone }) => (phone?.number ?? '').endsWith('000'),
  VALIDATED_ID_DOCUMENT: ({ idDocument }) => (idDocument?.documentNumber ?? '').endsWith('0000'),
  LIVENESS_CHECK: ({ selfie }) =>
    Buffer.from(selfie?.image ?? '', 'base64')
      .subarray(-MARK.length)
      .equals(MARK),
  AML_CHECK: ({ name }) => /^sanctioned$/i.test(name?.lastName ?? ''),
  VALIDATED_CRYPTO_WALLET: ({ cryptoWallet }) => {
    const address = cryptoWallet?.address ?? '';
    return BURNT.has(address) || BURNT.has(address.toLowerCase());
  },
};

/** Equal data gets equal verdicts. */
export const sandboxAttest: Attest = async (type, data) => (data.some(REJECTED[type]) ? 'rejected' : 'passed');
