export function isHere(what: string, isThere: boolean): boolean;
