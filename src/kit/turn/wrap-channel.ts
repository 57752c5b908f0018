// The form of an inbound message for a model: a `<channel>` element that its body cannot leave or forge.

export interface WrappedChannel {
  readonly text: string
  /** Keys of meta that were left out: unsafe names, and the reserved `source`. */
  readonly dropped: readonly string[]
}

const SAFE_KEY = /^[A-Za-z_][A-Za-z0-9_]*$/
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g

// A tag may be hidden behind spaces, control characters, marks and other characters without a shape (format characters,
// variation selectors, fillers), or be written in full width. A model reads past all of them.
const SHAPELESS = '\\p{Cc}\\p{Cf}\\p{M}\\p{DI}'
const HIDDEN = `[\\s${SHAPELESS}]*`
const INVISIBLE = `[${SHAPELESS}]*`
const FULL_WIDTH = 0xfee0
const either = (char: string) => `[${char}${String.fromCharCode(char.charCodeAt(0) + FULL_WIDTH)}]`
const CHANNEL_TAG = new RegExp(
  `[<\uFF1C\uFE64](?=${HIDDEN}(?:${either('/')}${HIDDEN})*${[...'channel'].map(either).join(INVISIBLE)}(?![\\p{L}\\p{N}_]))`,
  'giu',
)

/**
 * `<channel source="S" k="v">`, the body and `</channel>`, each on its own line. `source` comes first, other keys
 * sorted.
 */
export function wrapChannel(
  source: string,
  meta: Readonly<Record<string, string>>,
  body: string,
): WrappedChannel {
  const dropped: string[] = []
  let open = `<channel source="${escapeAttribute(source)}"`
  for (const key of Object.keys(meta).sort()) {
    if (key === 'source' || !SAFE_KEY.test(key)) dropped.push(key)
    else open += ` ${key}="${escapeAttribute(meta[key] ?? '')}"`
  }
  return { text: `${open}>\n${neutraliseChannelTags(body)}\n</channel>`, dropped }
}

/** Turns the `<` of every opening or closing channel tag into `&lt;`. The rest stays unchanged. */
export function neutraliseChannelTags(body: string): string {
  return wellFormed(body).replaceAll('\0', '\uFFFD').replace(CHANNEL_TAG, '&lt;')
}

const NAMED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeAttribute(value: string): string {
  return wellFormed(value).replace(
    /[&<>"'\p{Cc}\u2028\u2029]/gu,
    (char) => NAMED[char] ?? `&#${char.codePointAt(0)};`,
  )
}

function wellFormed(text: string): string {
  return text.replace(LONE_SURROGATE, '\uFFFD')
}
