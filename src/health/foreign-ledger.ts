// A ledger sealed with another key: ledger.key was lost or replaced. The daemon continues with its present key so that
// messages flow, but reports it at every start, and `doctor` reports a problem.
import type { Logger, Store } from '../contract/index.ts'

export interface LedgerStanding {
  /** Chains that were sealed with another key. */
  readonly foreign_chains: number
  readonly problem: string | null
}

export async function ledgerStanding(store: Pick<Store, 'foreignChains'>): Promise<LedgerStanding> {
  const count = await store.foreignChains()
  const chains = count === 1 ? '1 chain' : `${count} chains`
  const problem = `${chains} of the ledger were sealed with another key: ledger.key was lost or replaced, and audit verify cannot vouch for what they tell`
  return { foreign_chains: count, problem: count === 0 ? null : problem }
}

export async function tellForeignLedger(store: Pick<Store, 'foreignChains'>, log: Logger): Promise<void> {
  const { foreign_chains, problem } = await ledgerStanding(store)
  if (problem === null) return
  const hint =
    'put the old ledger.key back into the data folder, or set SWITCHBOARD_LEDGER_KEY, and start again'
  log.error({ foreign_chains, hint }, problem)
}
