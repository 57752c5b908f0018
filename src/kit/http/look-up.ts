// Resolves foreign host names. The system's resolver has no time limit and uses the process's four threads, so two
// names with dead servers could block every look-up. An unknown name is therefore first queried without a thread. Of
// the names that do not answer, or were slow before, one at a time may use a thread. The others are refused meanwhile.
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { createBoundedMap, SwitchboardError } from '../../contract/index.ts'

export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/**
 * Returns all addresses of a host name. Throws the resolver's errors, or `platform_unavailable` if the queue is full.
 */
export type LookUp = (host: string) => Promise<readonly ResolvedAddress[]>

export interface LookUpDeps {
  /** The system's resolver, which respects the hosts file. It takes a thread. */
  readonly system: LookUp
  /** Whether the name's servers answer at all. It takes no thread, and its time is limited. */
  readonly answers: (host: string) => Promise<boolean>
  readonly after: (delayMs: number, run: () => void) => () => void
}

const SLOW_MS = 2_000
const REMEMBERED = 1_000

export function createLookUp(deps: LookUpDeps): LookUp {
  const underway = new Map<string, Promise<readonly ResolvedAddress[]>>()
  const wasQuick = createBoundedMap<string, boolean>(REMEMBERED)
  let slowLookUpRuns = false

  const ask = async (host: string) => {
    let slow = false
    const cancel = deps.after(SLOW_MS, () => {
      slow = true
      wasQuick.set(host, false)
    })
    try {
      const found = await deps.system(host)
      if (!slow) wasQuick.set(host, true)
      return found
    } finally {
      cancel()
    }
  }

  const askAlone = async (host: string) => {
    if (slowLookUpRuns)
      throw new SwitchboardError('platform_unavailable', 'the host name of the URL is slow to resolve')
    slowLookUpRuns = true
    try {
      return await ask(host)
    } finally {
      slowLookUpRuns = false
    }
  }

  const find = async (host: string) =>
    (wasQuick.get(host) ?? (await deps.answers(host))) ? ask(host) : askAlone(host)

  return (host) => {
    const known = underway.get(host)
    if (known) return known
    const mine = find(host).finally(() => underway.delete(host))
    underway.set(host, mine)
    return mine
  }
}

/** One for the process, because the process's threads are shared. */
export const lookUp: LookUp = createLookUp({
  system: (host) => systemLookup(host, { all: true, verbatim: true }),
  answers,
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs)
    return () => clearTimeout(timer)
  },
})

/** Also true for names that no name server knows, because the system resolves names of this machine and its network. */
async function answers(host: string): Promise<boolean> {
  if (!host.includes('.') || /(^|\.)localhost\.?$/.test(host)) return true
  // A new resolver each time, because a laptop's name servers change.
  const resolver = new Resolver({ timeout: 1_000, tries: 2 })
  const asked = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
  return asked.every((one) => one.status === 'fulfilled' || !SILENT.has(codeOf(one.reason)))
}

const SILENT = new Set(['ETIMEOUT', 'ESERVFAIL'])

function codeOf(thrown: unknown): string {
  return String((thrown as NodeJS.ErrnoException).code)
}
