import {
  AccountRole,
  type Address,
  getAddressDecoder,
  getAddressEncoder,
  getProgramDerivedAddress,
  type Instruction,
} from '@solana/kit';
import type { ChainAccount, Cluster } from './cluster.ts';

/**
 * The upgradeable loader (version 3), as far as a program is deployed with it. Its instructions are written here rather
 * than by @solana-program/loader-v3, whose "no new authority" names the loader itself, which then becomes the authority.
 * Accounts and instructions: solana-loader-v3-interface, a 32-bit tag and the fields behind it, little-endian.
 */
const UPGRADEABLE_LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111' as Address;
/** Loaders whose programs nobody can change. */
const FINAL_LOADERS: ReadonlySet<Address> = new Set([
  'BPFLoader2111111111111111111111111111111111' as Address,
  'BPFLoader1111111111111111111111111111111111' as Address,
]);
const SYSTEM = '11111111111111111111111111111111' as Address;
const RENT_SYSVAR = 'SysvarRent111111111111111111111111111111111' as Address;
const CLOCK_SYSVAR = 'SysvarC1ock11111111111111111111111111111111' as Address;

/** Bytes before the code: tag and authority; tag, slot and authority. */
export const BUFFER_HEAD = 37;
export const PROGRAM_DATA_HEAD = 45;
/** Tag and the address of the code. */
export const PROGRAM_SIZE = 36;

const FEATURE_PROGRAM = 'Feature111111111111111111111111111111111111' as Address;
/** Its account says whether a cluster takes programs of SBPF version 3 (SIMD-0178). */
export const SBPF_V3_FEATURE = '5cC3foj77CWun58pC51ebHFUWavHWKarWyR5UUik7dnC' as Address;
/** The version is in `e_flags` of the ELF header. */
const VERSION_AT = 48;

/** True where a program of a file's version can be deployed, by the account of the feature that lets it be. */
export async function takesVersionOf(elf: Uint8Array, cluster: Pick<Cluster, 'accounts'>): Promise<boolean> {
  if (elf[VERSION_AT] !== 3) return true;
  const [feature] = await cluster.accounts([SBPF_V3_FEATURE]);
  return feature?.owner === FEATURE_PROGRAM && feature.data[0] === 1;
}

const TAG = { buffer: 1, program: 2, programData: 3 } as const;
const { READONLY, WRITABLE, READONLY_SIGNER, WRITABLE_SIGNER } = AccountRole;

type Meta = readonly [address: Address, role: AccountRole];

const instruction = (
  programAddress: Address,
  accounts: readonly Meta[],
  ...fields: readonly (number | bigint | Uint8Array)[]
): Instruction => ({
  programAddress,
  accounts: accounts.map(([address, role]) => ({ address, role })),
  data: packed(fields),
});

/** Numbers are 32 bits wide, bigints 64. */
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

/** Where the code of an upgradeable program lies. */
export async function programDataOf(program: Address): Promise<Address> {
  const [address] = await getProgramDerivedAddress({
    programAddress: UPGRADEABLE_LOADER,
    seeds: [getAddressEncoder().encode(program)],
  });
  return address;
}

/**
 * Creates a buffer and names its authority. Both belong into one transaction: a buffer that nobody has initialised can
 * be taken by anybody. Signers: payer and buffer.
 */
export const createBuffer = (to: {
  readonly payer: Address;
  readonly buffer: Address;
  readonly authority: Address;
  readonly lamports: bigint;
  readonly size: number;
}): Instruction[] => [
  createAccount(to.payer, to.buffer, to.lamports, BUFFER_HEAD + to.size),
  instruction(
    UPGRADEABLE_LOADER,
    [
      [to.buffer, WRITABLE],
      [to.authority, READONLY],
    ],
    0,
  ),
];

/** Signer: the authority. */
export const writeBuffer = (buffer: Address, authority: Address, at: number, bytes: Uint8Array): Instruction =>
  instruction(
    UPGRADEABLE_LOADER,
    [
      [buffer, WRITABLE],
      [authority, READONLY_SIGNER],
    ],
    1,
    at,
    BigInt(bytes.length),
    bytes,
  );

/** Makes the program from a buffer, whose rent goes back to the payer first. Signers: payer, program, authority. */
export const deployProgram = (to: {
  readonly payer: Address;
  readonly program: Address;
  readonly programData: Address;
  readonly buffer: Address;
  readonly authority: Address;
  /** Of the program's own account. */
  readonly lamports: bigint;
  readonly size: number;
}): Instruction[] => [
  createAccount(to.payer, to.program, to.lamports, PROGRAM_SIZE),
  instruction(
    UPGRADEABLE_LOADER,
    [
      [to.payer, WRITABLE_SIGNER],
      [to.programData, WRITABLE],
      [to.program, WRITABLE],
      [to.buffer, WRITABLE],
      [RENT_SYSVAR, READONLY],
      [CLOCK_SYSVAR, READONLY],
      [SYSTEM, READONLY],
      [to.authority, READONLY_SIGNER],
    ],
    2,
    BigInt(to.size),
  ),
];

/** Puts the code of a buffer in place of a program's; what the buffer held goes to `spill`. Signer: the authority. */
export const upgradeProgram = (to: {
  readonly program: Address;
  readonly programData: Address;
  readonly buffer: Address;
  readonly spill: Address;
  readonly authority: Address;
}): Instruction =>
  instruction(
    UPGRADEABLE_LOADER,
    [
      [to.programData, WRITABLE],
      [to.program, WRITABLE],
      [to.buffer, WRITABLE],
      [to.spill, WRITABLE],
      [RENT_SYSVAR, READONLY],
      [CLOCK_SYSVAR, READONLY],
      [to.authority, READONLY_SIGNER],
    ],
    3,
  );

/** Gives up the right to change a program, for good. Two accounts and no third one: that is "nobody". */
export const giveUpAuthority = (programData: Address, authority: Address): Instruction =>
  instruction(
    UPGRADEABLE_LOADER,
    [
      [programData, WRITABLE],
      [authority, READONLY_SIGNER],
    ],
    4,
  );

/** Closes a buffer; what it holds goes to `to`. Signer: the authority. */
export const closeBuffer = (buffer: Address, to: Address, authority: Address): Instruction =>
  instruction(
    UPGRADEABLE_LOADER,
    [
      [buffer, WRITABLE],
      [to, WRITABLE],
      [authority, READONLY_SIGNER],
    ],
    5,
  );

const createAccount = (payer: Address, account: Address, lamports: bigint, size: number): Instruction =>
  instruction(
    SYSTEM,
    [
      [payer, WRITABLE_SIGNER],
      [account, WRITABLE_SIGNER],
    ],
    0,
    lamports,
    BigInt(size),
    new Uint8Array(getAddressEncoder().encode(UPGRADEABLE_LOADER)),
  );

/** A buffer with code that is not deployed yet; null for any other account. */
export function readBuffer(
  account: ChainAccount | null | undefined,
): { readonly authority: Address | null; readonly code: Uint8Array } | null {
  if (!isLoaders(account, TAG.buffer, BUFFER_HEAD)) return null;
  return { authority: authorityAt(account.data, 4), code: account.data.subarray(BUFFER_HEAD) };
}

/** A program as its accounts say. */
interface DeployedProgram {
  /** Behind the program's own bytes there may be zeros. */
  readonly code: Uint8Array;
  /** Of the last deploy or upgrade; 0 where the loader does not say. */
  readonly slot: bigint;
  /** null: nobody can change it. */
  readonly authority: Address | null;
}

/** Reads a program and the account of its code, as `programDataOf` names it; null where they are no program. */
export function readProgram(
  program: ChainAccount | null | undefined,
  programData: ChainAccount | null | undefined,
): DeployedProgram | null {
  if (!program?.executable) return null;
  if (FINAL_LOADERS.has(program.owner)) return { code: program.data, slot: 0n, authority: null };
  if (!isLoaders(program, TAG.program, PROGRAM_SIZE)) return null;
  if (!isLoaders(programData, TAG.programData, PROGRAM_DATA_HEAD)) return null;
  if (getAddressDecoder().decode(program.data, 4) !== programData.address) return null;
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

/** One byte says whether there is an authority; the bytes of an earlier one stay behind it. */
const authorityAt = (data: Uint8Array, at: number): Address | null =>
  data[at] === 1 ? getAddressDecoder().decode(data, at + 1) : null;

const viewOf = (data: Uint8Array) => new DataView(data.buffer, data.byteOffset, data.byteLength);
