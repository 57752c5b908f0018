// Why a target is missed, by the key of the figure: edited by hand when a cause is known, told beside the miss.
export const NOTES: Readonly<Record<string, string>> = {}
