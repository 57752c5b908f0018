// Says in words what is wrong with the five fields of a schedule. Null: nothing.

const FIELDS: readonly (readonly [name: string, low: number, high: number])[] = [
  ['minute', 0, 59],
  ['hour', 0, 23],
  ['day', 1, 31],
  ['month', 1, 12],
  ['weekday', 0, 7],
]
const ATOM = /^(\*|\d{1,2}(-\d{1,2})?|[a-z]{3}(-[a-z]{3})?)(\/\d{1,2})?$/i
const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec']
const LONGEST = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

export function cronProblem(written: string): string | null {
  const fields = written.trim().split(/\s+/)
  if (fields.length !== FIELDS.length) return 'expected five cron fields: minute hour day month weekday'
  for (const [place, [name, low, high]] of FIELDS.entries()) {
    const wrong = (fields[place] ?? '').split(',').find((atom) => !isAtom(atom, place, low, high))
    if (wrong !== undefined)
      return `"${wrong}" is not a cron field for the ${name}: ${low} to ${high}, * or a list`
  }
  return neverComes(fields) ? 'this day never comes: no such month is that long' : null
}

function isAtom(atom: string, place: number, low: number, high: number): boolean {
  if (!ATOM.test(atom)) return false
  if (/[a-z]/i.test(atom)) return place >= 3
  const [range = '', step] = atom.split('/')
  const numbers = range === '*' ? [] : range.split('-').map(Number)
  const inRange = numbers.every((number) => number >= low && number <= high)
  return inRange && (numbers[1] === undefined || (numbers[0] ?? 0) <= numbers[1]) && step !== '0'
}

/** Only where the weekday is left open: else the schedule runs on that. */
function neverComes([, , day = '*', month = '*', weekday = '*']: readonly string[]): boolean {
  if (weekday !== '*') return false
  const first = Math.min(
    ...day.split(',').map((atom) => (atom.startsWith('*') ? 1 : Number.parseInt(atom, 10))),
  )
  return month.split(',').every((atom) => monthsOf(atom).every((one) => (LONGEST[one - 1] ?? 31) < first))
}

/** Counts rather too many months than too few: the answer "this never happens" must be certain. */
function monthsOf(atom: string): readonly number[] {
  const [range = '*', step] = atom.toLowerCase().split('/')
  const [from, to] = range.split('-').map((one) => MONTHS.indexOf(one) + 1 || Number(one))
  const low = range === '*' ? 1 : (from ?? 1)
  const high = range === '*' || (to === undefined && step !== undefined) ? 12 : (to ?? low)
  if (!(low <= high)) return [1]
  return Array.from({ length: high - low + 1 }, (_, at) => low + at)
}
