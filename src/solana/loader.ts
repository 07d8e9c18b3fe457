import { AccountRole, type Address, getAddressEncoder, type Instruction } from '@solana/kit';
import { type ChainAccount, CLOCK_SYSVAR, type Cluster, SYSTEM_PROGRAM, UPGRADEABLE_LOADER } from './cluster.ts';
import { derivedAddress } from './derived-address.ts';
import { addressAt, viewOf } from './token.ts';

/**
 * Instructions of the upgradeable loader (version 3). They are our own, since @solana-program/loader-v3 writes "no new
 * authority" as the loader's address. Layout: solana-loader-v3-interface, a 32-bit tag and little-endian fields.
 */

const FINAL_LOADERS: ReadonlySet<Address> = new Set([
  'BPFLoader2111111111111111111111111111111111' as Address,
  'BPFLoader1111111111111111111111111111111111' as Address,
]);
const RENT_SYSVAR = 'SysvarRent111111111111111111111111111111111' as Address;

/** Bytes of a buffer's tag and authority; of a program data account's tag, slot and authority. */
export const BUFFER_HEAD = 37;
export const PROGRAM_DATA_HEAD = 45;
export const PROGRAM_SIZE = 36;

const FEATURE_PROGRAM = 'Feature111111111111111111111111111111111111' as Address;
/** The feature whose account says if programs of SBPF version 3 can be deployed (SIMD-0178). */
export const SBPF_V3_FEATURE = '5cC3foj77CWun58pC51ebHFUWavHWKarWyR5UUik7dnC' as Address;
/** The feature after which no other version can be deployed (SIMD-0500). */
export const SBPF_V3_ONLY_FEATURE = 'B8JJXCy5amZyWG9r7EnUYLwzXSXTxG7GZ1qZ1qggo83g' as Address;
/** The version is in `e_flags` of the ELF header. */
const VERSION_AT = 48;

export type VersionSupport = Awaited<ReturnType<typeof supportOf>>;

/** Finds by its features whether a cluster can deploy a file's SBPF version; `pending`: from the next epoch on. */
export async function supportOf(elf: Uint8Array, { accounts, nodeVersion }: Pick<Cluster, 'accounts' | 'nodeVersion'>) {
  const version = elf[VERSION_AT] ?? 0;
  const [third, only] = (await accounts([SBPF_V3_FEATURE, SBPF_V3_ONLY_FEATURE])).map(featureState);
  const older = only === 'active' ? 'absent' : 'active';
  return {
    version,
    state: version === 3 ? (third ?? 'absent') : older,
    /** The node's version; null if it does not say. */
    node: (await nodeVersion?.()) ?? null,
  } as const;
}

/** A feature has an account once it was requested, and is active once the first byte is 1. */
const featureState = (account: ChainAccount | null) =>
  account?.owner !== FEATURE_PROGRAM ? 'absent' : account.data[0] === 1 ? 'active' : 'pending';

const TAG = { buffer: 1, program: 2, programData: 3 } as const;

const account = (role: AccountRole) => (address: Address) => ({ address, role });
const readonly = account(AccountRole.READONLY);
const writable = account(AccountRole.WRITABLE);
const signer = account(AccountRole.READONLY_SIGNER);
const payer = account(AccountRole.WRITABLE_SIGNER);

const instruction = (
  programAddress: Address,
  accounts: readonly ReturnType<typeof writable>[],
  ...fields: readonly (number | bigint | Uint8Array)[]
): Instruction => ({ programAddress, accounts, data: packed(fields) });

/** Packs numbers as 32 bits, bigints as 64. */
function packed(fields: readonly (number | bigint | Uint8Array)[]): Uint8Array {
  const parts = fields.map((field) => {
    if (field instanceof Uint8Array) return field;
    const bytes = Buffer.alloc(typeof field === 'bigint' ? 8 : 4);
    if (typeof field === 'bigint') bytes.writeBigUInt64LE(field);
    else bytes.writeUInt32LE(field);
    return bytes;
  });
  return new Uint8Array(Buffer.concat(parts));
}

export async function programDataOf(program: Address): Promise<Address> {
  const [address] = await derivedAddress(UPGRADEABLE_LOADER, program, () => [getAddressEncoder().encode(program)]);
  return address;
}

type Of<Account extends string> = { readonly [A in Account]: Address };
type Place = Of<'program' | 'programData' | 'buffer' | 'authority'>;

interface Rented {
  readonly lamports: bigint;
  readonly size: number;
}

/** Must be sent in one transaction, as anybody can take an uninitialised buffer. Signers: payer and buffer. */
export const createBuffer = (to: Of<'payer' | 'buffer' | 'authority'> & Rented): Instruction[] => [
  createAccount(to.payer, to.buffer, to.lamports, BUFFER_HEAD + to.size),
  instruction(UPGRADEABLE_LOADER, [writable(to.buffer), readonly(to.authority)], 0),
];

/** Signer: the authority. */
export const writeBuffer = (buffer: Address, authority: Address, at: number, bytes: Uint8Array): Instruction =>
  instruction(UPGRADEABLE_LOADER, [writable(buffer), signer(authority)], 1, at, BigInt(bytes.length), bytes);

/** Deploys a buffer's code; its rent goes back to the payer first. Signers: payer, program, authority. */
export const deployProgram = (to: Of<'payer' | keyof Place> & Rented): Instruction[] => {
  const written = [to.programData, to.program, to.buffer].map(writable);
  const read = [RENT_SYSVAR, CLOCK_SYSVAR, SYSTEM_PROGRAM].map(readonly);
  return [
    createAccount(to.payer, to.program, to.lamports, PROGRAM_SIZE),
    instruction(UPGRADEABLE_LOADER, [payer(to.payer), ...written, ...read, signer(to.authority)], 2, BigInt(to.size)),
  ];
};

/** Replaces a program's code; the buffer's lamports go to `spill`. Signer: the authority. */
export const upgradeProgram = (to: Of<'spill' | keyof Place>): Instruction => {
  const written = [to.programData, to.program, to.buffer, to.spill].map(writable);
  return instruction(
    UPGRADEABLE_LOADER,
    [...written, readonly(RENT_SYSVAR), readonly(CLOCK_SYSVAR), signer(to.authority)],
    3,
  );
};

/** Makes a program immutable: without a third account there is no new authority. */
export const giveUpAuthority = (programData: Address, authority: Address): Instruction =>
  instruction(UPGRADEABLE_LOADER, [writable(programData), signer(authority)], 4);

/** Closes a buffer into `to`. Signer: the authority. */
export const closeBuffer = (buffer: Address, to: Address, authority: Address): Instruction =>
  instruction(UPGRADEABLE_LOADER, [writable(buffer), writable(to), signer(authority)], 5);

function createAccount(from: Address, created: Address, lamports: bigint, size: number): Instruction {
  const owner = new Uint8Array(getAddressEncoder().encode(UPGRADEABLE_LOADER));
  return instruction(SYSTEM_PROGRAM, [payer(from), payer(created)], 0, lamports, BigInt(size), owner);
}

/** Reads an undeployed buffer; null for any other account. */
export function readBuffer(account: ChainAccount | null | undefined) {
  if (!isLoaders(account, TAG.buffer, BUFFER_HEAD)) return null;
  return { authority: authorityAt(account.data, 4), code: account.data.subarray(BUFFER_HEAD) };
}

/** Reads a program and its code (perhaps zero-padded), else null. `slot` 0: unknown; `authority` null: immutable. */
export function readProgram(program: ChainAccount | null | undefined, programData: ChainAccount | null | undefined) {
  if (!program?.executable) return null;
  if (FINAL_LOADERS.has(program.owner)) return { code: program.data, slot: 0n, authority: null };
  if (!isLoaders(program, TAG.program, PROGRAM_SIZE)) return null;
  if (!isLoaders(programData, TAG.programData, PROGRAM_DATA_HEAD)) return null;
  if (addressAt(program.data, 4) !== programData.address) return null;
  return {
    code: programData.data.subarray(PROGRAM_DATA_HEAD),
    slot: viewOf(programData.data).getBigUint64(4, true),
    authority: authorityAt(programData.data, 12),
  };
}

function isLoaders(account: ChainAccount | null | undefined, tag: number, size: number): account is ChainAccount {
  return (
    account?.owner === UPGRADEABLE_LOADER &&
    account.data.length >= size &&
    viewOf(account.data).getUint32(0, true) === tag
  );
}

/** Reads an authority if its flag is set: an earlier one's bytes remain. */
const authorityAt = (data: Uint8Array, at: number): Address | null => (data[at] === 1 ? addressAt(data, at + 1) : null);
