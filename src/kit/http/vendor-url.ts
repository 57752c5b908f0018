// Which addresses belong to a vendor: its token goes to no other host, and files are fetched from no other.

export interface VendorServer {
  readonly apiUrl: string
  /** The operator's own server stands in for the vendor's. */
  readonly ownServer: boolean
}

/** True for https URLs of hosts that match `hosts`, and for URLs of the operator's own server. */
export function isVendorUrl(url: string, { apiUrl, ownServer }: VendorServer, hosts: RegExp): boolean {
  if (!URL.canParse(url)) return false
  const { host, hostname, protocol } = new URL(url)
  if (ownServer && host === new URL(apiUrl).host) return true
  return protocol === 'https:' && hosts.test(hostname)
}
