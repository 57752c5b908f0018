// Decides what the demo agent does with a sentence. Pure.

export type Wish =
  | { readonly kind: 'help' }
  | { readonly kind: 'deploy'; readonly what: string }
  | { readonly kind: 'remind'; readonly afterMs: number; readonly inWords: string; readonly about: string }
  | { readonly kind: 'remind-too-far' }
  | { readonly kind: 'echo' }

const UNITS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }
const FARTHEST_MS = 7 * 86_400_000
const REMIND = /^remind me in (\d{1,9})\s*(s|m|h|d)[a-z]*(?:\s+(?:to|about|that)\s+([\s\S]+))?$/i
const DEPLOY = /^deploy(?:\s+([\w./@-]{1,80}))?$/i

export function understand(text: string): Wish {
  const said = text.trim()
  if (/^(help|\?)$/i.test(said)) return { kind: 'help' }
  const deploy = DEPLOY.exec(said)
  if (deploy) return { kind: 'deploy', what: deploy[1] ?? 'main' }
  const remind = REMIND.exec(said)
  if (remind) return reminder(Number(remind[1]), (remind[2] ?? 's').toLowerCase(), remind[3])
  return { kind: 'echo' }
}

function reminder(amount: number, unit: string, about: string | undefined): Wish {
  const afterMs = amount * (UNITS[unit] ?? 1_000)
  if (afterMs > FARTHEST_MS) return { kind: 'remind-too-far' }
  return {
    kind: 'remind',
    afterMs,
    inWords: `${amount}${unit}`,
    about: about?.trim() ?? 'you asked me to speak up',
  }
}
