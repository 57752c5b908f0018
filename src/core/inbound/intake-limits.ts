// INTAKE's limits: the flood guard, the sender's limit, and the number of rows for refusals. They are read before the
// steps decide, and charged afterwards. A message that was never stored gives its tokens back.
import {
  type Clock,
  createBoundedMap,
  createTokenBuckets,
  type LimitPeek,
  type RateLimit,
  type StepResult,
  WITHIN_LIMIT,
} from '../../contract/index.ts'
import type { SharedLimits } from '../shared-limits.ts'

/** One message, as the limits see it. */
export interface Knock {
  readonly integration: string
  readonly sender: string
  /** Admitted by configuration or grants. */
  readonly known: boolean
  /** Exempt: within every limit, and charged nothing. */
  readonly free: boolean
  readonly floodLimit: RateLimit
  readonly senderLimit: RateLimit
}

export interface KnockLook {
  readonly flood: LimitPeek
  readonly sender: LimitPeek
  /** Charges for the decision. */
  pay(result: StepResult): Paid
  /** True for the first message of this sender over its limit, until one of their messages is admitted again. */
  isFirstOver(): boolean
}

export interface Paid {
  /** There were so many recent refusals here that this one gets no row. */
  readonly crowded: boolean
  /** Gives the tokens back: the message was a duplicate, or was not stored. */
  undo(): void
}

export interface IntakeLimits {
  /**
   * If nodes share the limits, a look may wait: use `look`. Otherwise nothing may run between look and pay: use
   * `lookAlone`.
   */
  readonly areShared: boolean
  look(knock: Knock): Promise<KnockLook>
  lookAlone(knock: Knock): KnockLook
}

// Strangers control how often they write. Refusals beyond this are counted and in the ledger, without a row each.
const REFUSAL_ROWS = { rps: 1, burst: 1_000 }
/** Strangers choose their ids. */
const MOST_BUCKETS = 50_000

export function createIntakeLimits(deps: {
  readonly clock: Clock
  /** Limits shared by all nodes; null: there is one node. */
  readonly shared: SharedLimits | null
}): IntakeLimits {
  const { shared } = deps
  const own = createTokenBuckets(MOST_BUCKETS, deps.clock)
  /** Senders who got a notice to slow down and have not been admitted since. */
  const noticed = createBoundedMap<string, true>(MOST_BUCKETS)

  const lookAlone = ({ key, limit }: Bucket): Look => ({ peek: own.peek(key, limit), drawn: false })

  /** Checks this node's own share first, then the shared limit. The look takes a token of the shared limit. */
  const look = async (bucket: Bucket): Promise<Look> => {
    const alone = lookAlone(bucket)
    if (alone.peek.over || shared === null) return alone
    const peek = await shared.draw(bucket.key, bucket.limit)
    return { peek, drawn: !peek.over }
  }

  const pay = ({ key, limit }: Bucket, { drawn }: Look, isDue: boolean) => {
    if (isDue) own.take(key, limit)
    else if (drawn) shared?.giveBack(key, limit)
  }

  const giveBack = ({ key, limit }: Bucket, { drawn }: Look) => {
    own.giveBack(key, limit)
    if (drawn) shared?.giveBack(key, limit)
  }

  const looked = (free: boolean, buckets: Buckets, flood: Look, sender: Look): KnockLook => ({
    flood: flood.peek,
    sender: sender.peek,
    pay(result) {
      const due = free ? NOTHING_DUE : dueFor(result)
      pay(buckets.flood, flood, due.flood)
      pay(buckets.sender, sender, due.sender)
      if (due.sender) noticed.delete(buckets.sender.key)
      const crowded = due.refusal && own.take(buckets.refusal.key, buckets.refusal.limit).over
      return {
        crowded,
        undo() {
          if (due.flood) giveBack(buckets.flood, flood)
          if (due.sender) giveBack(buckets.sender, sender)
          if (due.refusal && !crowded) giveBack(buckets.refusal, NOT_LOOKED)
        },
      }
    },
    isFirstOver() {
      const { key } = buckets.sender
      if (noticed.has(key)) return false
      noticed.set(key, true)
      return true
    },
  })

  return {
    areShared: shared !== null,
    async look(knock) {
      const { free } = knock
      const buckets = bucketsOf(knock)
      const flood = free ? NOT_LOOKED : await look(buckets.flood)
      return looked(free, buckets, flood, free || flood.peek.over ? NOT_LOOKED : await look(buckets.sender))
    },
    lookAlone(knock) {
      const { free } = knock
      const buckets = bucketsOf(knock)
      const flood = free ? NOT_LOOKED : lookAlone(buckets.flood)
      return looked(free, buckets, flood, free || flood.peek.over ? NOT_LOOKED : lookAlone(buckets.sender))
    },
  }
}

interface Bucket {
  readonly key: string
  readonly limit: RateLimit
}

interface Buckets {
  readonly flood: Bucket
  readonly sender: Bucket
  readonly refusal: Bucket
}

interface Look {
  readonly peek: LimitPeek
  /** A token of the shared limit was taken. */
  readonly drawn: boolean
}

const NOT_LOOKED: Look = { peek: WITHIN_LIMIT, drawn: false }

/**
 * Messages of strangers must not crowd out a group's messages. Strangers have their own flood guard and their own
 * rows.
 */
function bucketsOf(knock: Knock): Buckets {
  const { integration, sender, known, floodLimit, senderLimit } = knock
  return {
    flood: { key: `${known ? 'f' : 'x'}:${sizeOf(floodLimit)}:${integration}`, limit: floodLimit },
    sender: { key: `s:${sizeOf(senderLimit)}:${integration}:${sender}`, limit: senderLimit },
    refusal: { key: `${known ? 'm' : 'r'}:${integration}`, limit: REFUSAL_ROWS },
  }
}

/** A changed limit applies at once. A wider limit admits senders that waited at the old one. */
const sizeOf = ({ rps, burst }: RateLimit) => `${rps}/${burst}`

interface Due {
  readonly flood: boolean
  readonly sender: boolean
  readonly refusal: boolean
}

const NOTHING_DUE: Due = { flood: false, sender: false, refusal: false }

/**
 * Refused strangers and floods spend no sender token. Verdicts and claims spend none either, because they come before
 * the limit. A refused verdict always has its row.
 */
function dueFor({ decision }: StepResult): Due {
  if (decision.go !== 'refuse') {
    const limited = decision.go === 'continue' || decision.reason === 'command' || decision.reason === 'noted'
    return { flood: true, sender: limited, refusal: false }
  }
  return { flood: decision.reason !== 'flood', sender: false, refusal: decision.reason !== 'not_approver' }
}
