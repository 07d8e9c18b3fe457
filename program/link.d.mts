export function murmur3(name: string): number;
export function verifyCode(code: Buffer, functions?: ReadonlySet<number> | null): void;
