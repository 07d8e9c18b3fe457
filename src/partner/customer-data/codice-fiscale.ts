/** Values of characters at odd places; at an even one a character counts its digit or its place in the alphabet. */
const ODD_DIGITS = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21];
const ODD_LETTERS = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

/** Checks the last letter of an Italian codice fiscale (16 capitals and digits). */
export function isCodiceFiscale(code: string): boolean {
  const sum = [...code.slice(0, 15)].reduce((total, letter, index) => {
    const isDigit = /\d/.test(letter);
    const value = isDigit ? Number(letter) : letter.charCodeAt(0) - 65;
    if (index % 2 === 1) return total + value;
    return total + ((isDigit ? ODD_DIGITS[value] : ODD_LETTERS[value]) ?? 0);
  }, 0);
  return String.fromCharCode(65 + (sum % 26)) === code[15];
}
