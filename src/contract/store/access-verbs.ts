// The store's verbs about who may do what: grants, pairings, tokens, and the ciphertexts of secrets.
import type { Grant, NewToken, PairingRow, Right, TokenRow } from './records.ts'
import type { NewSend } from './send-records.ts'

export interface AccessVerbs {
  grants(): Promise<readonly Grant[]>
  grant(grant: Omit<Grant, 'at'>): Promise<void>
  revoke(integration: string, sender: string, right: Right, by: string): Promise<boolean>
  pairings(): Promise<readonly PairingRow[]>
  /**
   * Grants `talk` and the `rights` beside it, forgets the code and says the `words`, in one commit. Null: no such code. A
   * sender is one user at most: the right to be another one is taken back.
   */
  approvePairing(
    code: string,
    by: string,
    options?: { readonly rights?: readonly Right[]; readonly words?: readonly NewSend[] },
  ): Promise<PairingRow | null>
  denyPairing(code: string, by: string): Promise<boolean>
  addToken(token: NewToken, by: string): Promise<void>
  tokenByHash(hash: string): Promise<TokenRow | null>
  /** `kind`: those alone. `ofTurns: false`: without what every delivery of a turn mints for itself. */
  tokens(only?: { readonly kind?: string; readonly ofTurns?: false }): Promise<readonly TokenRow[]>
  revokeToken(id: string, by: string): Promise<boolean>
  /** When tokens let somebody in; an earlier time than the one that is known changes nothing. Not told in the ledger. */
  tokensUsed(uses: readonly { readonly id: string; readonly at: number }[]): Promise<void>
  /** Ciphertexts by name; the store never sees a plain one. `replaceSecrets` swaps all at once (rotation). */
  secrets(): Promise<Readonly<Record<string, string>>>
  replaceSecrets(change: Readonly<Record<string, string | null>>, by: string): Promise<void>
}
