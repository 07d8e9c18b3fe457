import { AccountRole, type Address, getAddressEncoder, getProgramDerivedAddress, type Instruction } from '@solana/kit';
import { type ChainAccount, CLOCK_SYSVAR, type Cluster, SYSTEM_PROGRAM, UPGRADEABLE_LOADER } from './cluster.ts';
import { addressAt, viewOf } from './token.ts';

/**
 * The upgradeable loader (version 3), as far as a program is deployed with it. Its instructions are written here rather
 * than by @solana-program/loader-v3, whose "no new authority" names the loader itself, which then becomes the authority.
 * Accounts and instructions: solana-loader-v3-interface, a 32-bit tag and the fields behind it, little-endian.
 */

/** Loaders whose programs can't be changed. */
const FINAL_LOADERS: ReadonlySet<Address> = new Set([
  'BPFLoader2111111111111111111111111111111111' as Address,
  'BPFLoader1111111111111111111111111111111111' as Address,
]);
const RENT_SYSVAR = 'SysvarRent111111111111111111111111111111111' as Address;

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
 * Creates a buffer and names its authority. Both belong into one transaction: a buffer that is not initialised can be
 * taken by anybody. Signers: payer and buffer.
 */
export const createBuffer = (to: {
  readonly payer: Address;
  readonly buffer: Address;
  readonly authority: Address;
  readonly lamports: bigint;
  readonly size: number;
}): Instruction[] => [
  createAccount(to.payer, to.buffer, to.lamports, BUFFER_HEAD + to.size),
  instruction(UPGRADEABLE_LOADER, [writable(to.buffer), readonly(to.authority)], 0),
];

/** Signer: the authority. */
export const writeBuffer = (buffer: Address, authority: Address, at: number, bytes: Uint8Array): Instruction =>
  instruction(UPGRADEABLE_LOADER, [writable(buffer), signer(authority)], 1, at, BigInt(bytes.length), bytes);

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
}): Instruction[] => {
  const written = [to.programData, to.program, to.buffer].map(writable);
  const read = [RENT_SYSVAR, CLOCK_SYSVAR, SYSTEM_PROGRAM].map(readonly);
  return [
    createAccount(to.payer, to.program, to.lamports, PROGRAM_SIZE),
    instruction(UPGRADEABLE_LOADER, [payer(to.payer), ...written, ...read, signer(to.authority)], 2, BigInt(to.size)),
  ];
};

/** Puts the code of a buffer in place of a program's; what the buffer held goes to `spill`. Signer: the authority. */
export const upgradeProgram = (to: {
  readonly program: Address;
  readonly programData: Address;
  readonly buffer: Address;
  readonly spill: Address;
  readonly authority: Address;
}): Instruction => {
  const written = [to.programData, to.program, to.buffer, to.spill].map(writable);
  return instruction(
    UPGRADEABLE_LOADER,
    [...written, readonly(RENT_SYSVAR), readonly(CLOCK_SYSVAR), signer(to.authority)],
    3,
  );
};

/** Gives up the right to change a program, for good. Two accounts and no third one: that is "nobody". */
export const giveUpAuthority = (programData: Address, authority: Address): Instruction =>
  instruction(UPGRADEABLE_LOADER, [writable(programData), signer(authority)], 4);

/** Closes a buffer; what it holds goes to `to`. Signer: the authority. */
export const closeBuffer = (buffer: Address, to: Address, authority: Address): Instruction =>
  instruction(UPGRADEABLE_LOADER, [writable(buffer), writable(to), signer(authority)], 5);

function createAccount(from: Address, created: Address, lamports: bigint, size: number): Instruction {
  const owner = new Uint8Array(getAddressEncoder().encode(UPGRADEABLE_LOADER));
  return instruction(SYSTEM_PROGRAM, [payer(from), payer(created)], 0, lamports, BigInt(size), owner);
}

/** A buffer with code that is not deployed yet; null for any other account. */
export function readBuffer(account: ChainAccount | null | undefined) {
  if (!isLoaders(account, TAG.buffer, BUFFER_HEAD)) return null;
  return { authority: authorityAt(account.data, 4), code: account.data.subarray(BUFFER_HEAD) };
}

/**
 * Reads a program and the account of its code, as `programDataOf` names it; null where they are no program.
 * @returns `code`, perhaps with zeros behind it; `slot` of the last deploy or upgrade, 0 where the loader does not say;
 *   `authority` null: it can't be changed
 */
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

/** One byte says whether there is an authority; the bytes of an earlier one stay behind it. */
const authorityAt = (data: Uint8Array, at: number): Address | null => (data[at] === 1 ? addressAt(data, at + 1) : null);
