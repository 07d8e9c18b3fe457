import { checkAddress } from './address.ts';
import { birthDate, countryAlpha3, personName } from './identity.ts';
import type { CustomerData } from './schema.ts';
import { emailAddress, line } from './text.ts';
import { type DataContext, type Findings, normal, type Verdict, wrong } from './verdict.ts';

/** Checks what customers say about themselves; a kind that is one value of an enum is valid when its shape is. */
export function checkProfile(data: CustomerData, context: DataContext, found: Findings): CustomerData {
  if (data.email) return { email: { value: found.take('email.value', emailAddress(data.email.value)) } };
  if (data.name) {
    const { firstName, lastName } = data.name;
    if (firstName === undefined && lastName === undefined)
      found.wrong('name.firstName', 'is missing: give firstName, lastName or both.');
    return {
      name: {
        ...(firstName !== undefined && { firstName: found.take('name.firstName', personName(firstName)) }),
        ...(lastName !== undefined && { lastName: found.take('name.lastName', personName(lastName)) }),
      },
    };
  }
  if (data.birthDate) {
    return { birthDate: { date: found.take('birthDate.date', birthDate(data.birthDate.date, context)) } };
  }
  if (data.nationality) {
    return { nationality: { country: found.take('nationality.country', countryAlpha3(data.nationality.country)) } };
  }
  if (data.residentialAddress) {
    return { residentialAddress: checkAddress(data.residentialAddress, 'residentialAddress', found) };
  }
  if (data.lastOccupation) {
    return { lastOccupation: { code: found.take('lastOccupation.code', occupationCode(data.lastOccupation.code)) } };
  }
  if (data.intermediary) return { intermediary: { isIntermediary: data.intermediary.isIntermediary ?? null } };
  if (data.occupation) return { occupation: checkOccupation(data.occupation, found) };
  if (data.accountPurpose?.other !== undefined) {
    return { accountPurpose: { other: found.take('accountPurpose.other', line(data.accountPurpose.other, 200)) } };
  }
  if (data.employmentStatus?.other !== undefined) {
    return {
      employmentStatus: { other: found.take('employmentStatus.other', line(data.employmentStatus.other, 200)) },
    };
  }
  return data;
}

type Occupation = NonNullable<CustomerData['occupation']>;

/** Only the job title is always there: who is between jobs has no company. */
function checkOccupation(occupation: Occupation, found: Findings): Occupation {
  const optional = (['companyName', 'industry', 'employmentStatus'] as const).flatMap((field) => {
    const text = occupation[field];
    return text === undefined ? [] : [[field, found.take(`occupation.${field}`, line(text, 200))] as const];
  });
  return {
    jobTitle: found.take('occupation.jobTitle', line(occupation.jobTitle, 200)),
    ...Object.fromEntries(optional),
  };
}

/** The six digits of an occupation code; grouped as `15-1252` too. */
function occupationCode(text: string): Verdict {
  const digits = text.replace(/[\s.-]/g, '');
  return /^\d{6}$/.test(digits) ? normal(digits) : wrong('must be six digits.');
}
