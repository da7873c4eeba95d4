# MTE2 has no such path.
MTE2 gm->l1  bytes=4096
MTE2 gm->l0c bytes=4096
