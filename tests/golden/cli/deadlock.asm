# The set that line 4 waits for does not exist.
MTE2 gm->l1  bytes=4096 dst=l1:0
set  MTE2 MTE1 0
wait MTE2 MTE1 1
MTE1 l1->l0a bytes=4096 src=l1:0 dst=l0a:0
