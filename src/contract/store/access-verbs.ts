// The store's verbs for access: grants, pairings, tokens, and the ciphertexts of secrets.
import type { Grant, NewToken, PairingRow, Right, TokenRow } from './records.ts'
import type { NewSend } from './send-records.ts'

export interface AccessVerbs {
  grants(): Promise<readonly Grant[]>
  grant(grant: Omit<Grant, 'at'>): Promise<void>
  revoke(integration: string, sender: string, right: Right, by: string): Promise<boolean>
  pairings(): Promise<readonly PairingRow[]>
  /**
   * Grants `talk` and the further `rights`, deletes the code and enqueues the `words`, in one commit. Null: no such
   * code. A sender is one user at most, so the right to be another one is revoked.
   */
  approvePairing(
    code: string,
    by: string,
    options?: { readonly rights?: readonly Right[]; readonly words?: readonly NewSend[] },
  ): Promise<PairingRow | null>
  denyPairing(code: string, by: string): Promise<boolean>
  addToken(token: NewToken, by: string): Promise<void>
  tokenByHash(hash: string): Promise<TokenRow | null>
  /** `kind`: only those. `ofTurns: false`: without tokens that deliveries of turns mint for themselves. */
  tokens(only?: { readonly kind?: string; readonly ofTurns?: false }): Promise<readonly TokenRow[]>
  revokeToken(id: string, by: string): Promise<boolean>
  /** Records when tokens were used; an earlier time than the known one changes nothing. It leaves no ledger entry. */
  tokensUsed(uses: readonly { readonly id: string; readonly at: number }[]): Promise<void>
  /** Ciphertexts by name; the store never sees a plain text. `replaceSecrets` swaps all at once (rotation). */
  secrets(): Promise<Readonly<Record<string, string>>>
  replaceSecrets(change: Readonly<Record<string, string | null>>, by: string): Promise<void>
}
